package main

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	vgdraw "gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	panelWidth  = 300
	panelHeight = 280
	margin      = 10
)

// The plot brings its own ground, so that it is read in light and in dark alike. The
// lines' colours are told apart by the colour-blind as well (Okabe and Ito).
var (
	ground = color.RGBA{0xff, 0xff, 0xff, 0xff}
	ink    = color.RGBA{0x1f, 0x23, 0x28, 0xff}
	grid   = color.RGBA{0xd0, 0xd7, 0xde, 0xff}
	bound  = color.RGBA{0x6e, 0x77, 0x81, 0xff}
	hues   = []color.RGBA{
		{0x00, 0x72, 0xb2, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	}
)

// draw returns the panels side by side, as SVG.
func draw(all []panel) ([]byte, error) {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	colours := paint(all)
	canvas := vgsvg.New(vg.Points(panelWidth*float64(len(all))), vg.Points(panelHeight))
	whole := vgdraw.New(canvas)
	whole.SetColor(ground)
	whole.Fill(whole.Path())
	tiles := vgdraw.Tiles{
		Rows: 1, Cols: len(all),
		PadTop: margin, PadBottom: margin, PadLeft: margin, PadRight: margin, PadX: 2 * margin,
	}
	for i := range all {
		drawn, err := all[i].plot(colours)
		if err != nil {
			return nil, fmt.Errorf("drawing %q: %w", all[i].title, err)
		}
		drawn.Draw(tiles.At(whole, i, 0))
	}
	var text bytes.Buffer
	if _, err := canvas.WriteTo(&text); err != nil {
		return nil, fmt.Errorf("drawing: %w", err)
	}
	// Where the font is missing, a browser would take one with serifs and another width.
	return bytes.ReplaceAll(text.Bytes(), []byte("font-family:Liberation Sans"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif")), nil
}

// paint gives a contender the same colour in all panels.
func paint(all []panel) map[string]color.RGBA {
	colours := map[string]color.RGBA{}
	next := 0
	for _, p := range all {
		for _, l := range p.lines {
			if l.bound {
				colours[l.name] = bound
			} else if _, known := colours[l.name]; !known {
				colours[l.name] = hues[next%len(hues)]
				next++
			}
		}
	}
	return colours
}

// plot is a panel with its lines, those included that the axis has no place for:
// they are in the legend alone.
func (p *panel) plot(colours map[string]color.RGBA) (*plot.Plot, error) {
	drawn := plot.New()
	drawn.Title.Text, drawn.X.Label.Text = p.title, "VirtualMachines"
	drawn.BackgroundColor = nil
	drawn.X.Scale, drawn.X.Tick.Marker = plot.LogScale{}, decades{}
	if p.logarithmic {
		drawn.Y.Scale, drawn.Y.Tick.Marker = plot.LogScale{}, decades{}
	}
	style(drawn)
	lattice := plotter.NewGrid()
	lattice.Vertical.Color, lattice.Horizontal.Color = grid, grid
	drawn.Add(lattice)
	for i := range p.lines {
		l := &p.lines[i]
		points := p.drawn(l)
		if len(points) == 0 {
			drawn.Legend.Add(l.name + ": none")
			continue
		}
		if err := add(drawn, l, points, colours[l.name]); err != nil {
			return nil, err
		}
	}
	if math.IsInf(drawn.X.Min, 0) {
		return nil, errors.New("there is nothing to draw")
	}
	p.widen(drawn)
	return drawn, nil
}

func style(drawn *plot.Plot) {
	drawn.Title.TextStyle.Font.Size, drawn.Title.TextStyle.Color, drawn.Title.Padding = 11, ink, margin
	for _, axis := range []*plot.Axis{&drawn.X, &drawn.Y} {
		axis.Color, axis.Label.TextStyle.Color, axis.Tick.Color, axis.Tick.Label.Color = ink, ink, ink, ink
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size = 10, 9
	}
	drawn.Legend.TextStyle.Font.Size, drawn.Legend.TextStyle.Color = 9, ink
	drawn.Legend.Top, drawn.Legend.Left, drawn.Legend.XOffs, drawn.Legend.Padding = true, true, margin, 3
}

func add(drawn *plot.Plot, l *line, points []point, colour color.RGBA) error {
	at := make(plotter.XYs, 0, len(points))
	for _, each := range points {
		at = append(at, plotter.XY{X: each.objects, Y: each.cost})
	}
	stroke, dots, err := plotter.NewLinePoints(at)
	if err != nil {
		return err
	}
	stroke.Color, stroke.Width = colour, 1.5
	dots.Color, dots.Shape, dots.Radius = colour, vgdraw.CircleGlyph{}, 2.5
	if l.bound {
		stroke.Dashes, dots.Shape = []vg.Length{4, 3}, vgdraw.RingGlyph{}
	}
	drawn.Add(stroke, dots)
	drawn.Legend.Add(l.name, stroke, dots)
	return nil
}

// widen lets a logarithmic axis begin and end with a power of ten, and leaves room
// for the legend.
func (p *panel) widen(drawn *plot.Plot) {
	drawn.X.Min, drawn.X.Max = powerBelow(drawn.X.Min), powerAbove(drawn.X.Max)
	if drawn.X.Min == drawn.X.Max {
		drawn.X.Max *= 10
	}
	if p.logarithmic {
		drawn.Y.Min, drawn.Y.Max = powerBelow(drawn.Y.Min), powerAbove(drawn.Y.Max)*10
		return
	}
	drawn.Y.Min, drawn.Y.Max = 0, drawn.Y.Max*1.6
}

func powerBelow(value float64) float64 { return math.Pow(10, math.Floor(math.Log10(value))) }

func powerAbove(value float64) float64 { return math.Pow(10, math.Ceil(math.Log10(value))) }

// decades are the ticks of a logarithmic axis: powers of ten with a label.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(least, most float64) []plot.Tick {
	var all []plot.Tick
	for decade := powerBelow(least); decade <= most; decade *= 10 {
		all = append(all, plot.Tick{Value: decade, Label: thousands(decade)})
		for step := 2.0; step < 10 && decade*step <= most; step++ {
			all = append(all, plot.Tick{Value: decade * step})
		}
	}
	return all
}

// thousands is a number as people write it, as in 10,000.
func thousands(value float64) string {
	text := strconv.FormatFloat(value, 'f', -1, 64)
	if value < 1000 {
		return text
	}
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
