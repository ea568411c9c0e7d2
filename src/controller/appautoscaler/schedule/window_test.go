package schedule

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// layout shows the offset, without which a time that comes twice is ambiguous.
const layout = "2006-01-02 15:04:05 -0700"

func at(t *testing.T, zone, text string) time.Time {
	t.Helper()
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	moment, err := time.ParseInLocation(layout, text, location)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

func window(t *testing.T, expression, zone string, length time.Duration) *Window {
	t.Helper()
	w, err := Parse(expression, zone, length)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// show writes a moment as it is in a zone; the zero time is "never".
func show(t *testing.T, zone string, moment time.Time) string {
	t.Helper()
	if moment.IsZero() {
		return "never"
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	return moment.In(location).Format(layout)
}

// times are when a window opens and closes, in turn, beginning with the first
// opening after a moment at which it is closed.
func times(t *testing.T, w *Window, zone, from string, count int) []string {
	t.Helper()
	moment := at(t, zone, from)
	result := make([]string, 0, count)
	for range count {
		_, change := w.At(moment)
		result = append(result, show(t, zone, change))
		moment = change
	}
	return result
}

const (
	berlin   = "Europe/Berlin"
	lordHowe = "Australia/Lord_Howe"
)

func TestWindowsWhereClocksAreMoved(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		expression, zone string
		length           time.Duration
		from             string
		want             []string
	}{
		"a start in the hour that does not exist is at the jump": {
			"30 2 * * *", berlin, time.Hour, "2026-03-28 12:00:00 +0100",
			[]string{"2026-03-29 03:00:00 +0200", "2026-03-29 04:00:00 +0200", "2026-03-30 02:30:00 +0200", "2026-03-30 03:30:00 +0200"},
		},
		"several starts in the hour that does not exist are one": {
			"*/20 2 * * *", berlin, time.Minute, "2026-03-28 12:00:00 +0100",
			[]string{"2026-03-29 03:00:00 +0200", "2026-03-29 03:01:00 +0200", "2026-03-30 02:00:00 +0200", "2026-03-30 02:01:00 +0200"},
		},
		"a start in the hour that comes twice is there twice": {
			"30 2 * * *", berlin, 10 * time.Minute, "2026-10-24 12:00:00 +0200",
			[]string{"2026-10-25 02:30:00 +0200", "2026-10-25 02:40:00 +0200", "2026-10-25 02:30:00 +0100", "2026-10-25 02:40:00 +0100", "2026-10-26 02:30:00 +0100"},
		},
		"two windows of an hour that comes twice touch and are one": {
			"30 2 * * *", berlin, time.Hour, "2026-10-24 12:00:00 +0200",
			[]string{"2026-10-25 02:30:00 +0200", "2026-10-25 03:30:00 +0100", "2026-10-26 02:30:00 +0100"},
		},
		"the length is elapsed time when an hour is left out": {
			"0 22 * * *", berlin, 10 * time.Hour, "2026-03-28 12:00:00 +0100",
			[]string{"2026-03-28 22:00:00 +0100", "2026-03-29 09:00:00 +0200", "2026-03-29 22:00:00 +0200", "2026-03-30 08:00:00 +0200"},
		},
		"the length is elapsed time when an hour is there twice": {
			"0 22 * * *", berlin, 10 * time.Hour, "2026-10-24 12:00:00 +0200",
			[]string{"2026-10-24 22:00:00 +0200", "2026-10-25 07:00:00 +0100", "2026-10-25 22:00:00 +0100", "2026-10-26 08:00:00 +0100"},
		},
		"24 hours from midnight leave a hole in the day that has 25": {
			"0 0 25-26 10 *", berlin, 24 * time.Hour, "2026-10-24 12:00:00 +0200",
			[]string{"2026-10-25 00:00:00 +0200", "2026-10-25 23:00:00 +0100", "2026-10-26 00:00:00 +0100", "2026-10-27 00:00:00 +0100"},
		},
		"hourly windows have no hole where an hour comes twice": {
			"0 * 24-26 10 *", berlin, time.Hour, "2026-10-23 12:00:00 +0200",
			[]string{"2026-10-24 00:00:00 +0200", "2026-10-27 00:00:00 +0100"},
		},
		"a start right at the jump is not shifted": {
			"0 3 * * *", berlin, time.Minute, "2026-03-28 12:00:00 +0100",
			[]string{"2026-03-29 03:00:00 +0200", "2026-03-29 03:01:00 +0200", "2026-03-30 03:00:00 +0200"},
		},
		"a clock that is put forward by half an hour": {
			"15 2 * * *", lordHowe, time.Minute, "2026-10-03 12:00:00 +1030",
			[]string{"2026-10-04 02:30:00 +1100", "2026-10-04 02:31:00 +1100", "2026-10-05 02:15:00 +1100"},
		},
		"what comes after a jump of half an hour": {
			"0 3 * * *", lordHowe, time.Minute, "2026-10-03 12:00:00 +1030",
			[]string{"2026-10-04 03:00:00 +1100", "2026-10-04 03:01:00 +1100", "2026-10-05 03:00:00 +1100"},
		},
		"a day that begins at 01:00": {
			"0 0 * * *", "America/Sao_Paulo", time.Minute, "2018-11-03 12:00:00 -0300",
			[]string{"2018-11-04 01:00:00 -0200", "2018-11-04 01:01:00 -0200", "2018-11-05 00:00:00 -0200"},
		},
		"a clock that is put back past midnight": {
			"30 23 * * *", "America/St_Johns", time.Minute, "2010-11-06 12:00:00 -0230",
			[]string{"2010-11-06 23:30:00 -0230", "2010-11-06 23:31:00 -0230", "2010-11-06 23:30:00 -0330", "2010-11-06 23:31:00 -0330", "2010-11-07 23:30:00 -0330"},
		},
		"a day that an island has never had": {
			"0 9 30 * *", "Pacific/Apia", time.Minute, "2011-12-29 12:00:00 -1000",
			[]string{"2011-12-31 00:00:00 +1400", "2011-12-31 00:01:00 +1400", "2012-01-30 09:00:00 +1400"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := window(t, test.expression, test.zone, test.length)
			if diff := cmp.Diff(test.want, times(t, w, test.zone, test.from, len(test.want))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAWindowIsOpenFromItsFirstMomentToBeforeItsEnd(t *testing.T) {
	t.Parallel()
	w := window(t, "0 8 * * 1-5", "", 10*time.Hour)
	for text, want := range map[string]string{
		"2026-11-30 07:59:59 +0000": "false 2026-11-30 08:00:00 +0000",
		"2026-11-30 08:00:00 +0000": "true 2026-11-30 18:00:00 +0000",
		"2026-11-30 17:59:59 +0000": "true 2026-11-30 18:00:00 +0000",
		"2026-11-30 18:00:00 +0000": "false 2026-12-01 08:00:00 +0000",
		"2026-12-04 18:00:00 +0000": "false 2026-12-07 08:00:00 +0000",
	} {
		open, change := w.At(at(t, "UTC", text))
		if got := map[bool]string{true: "true ", false: "false "}[open] + show(t, "UTC", change); got != want {
			t.Errorf("at %s: %s, want %s", text, got, want)
		}
	}
}

func TestWindowsThatTouchOrOverlapAreOne(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		expression string
		length     time.Duration
		want       string
	}{
		"every minute of the working hours":        {"* 8-17 * * *", time.Minute, "2026-11-30 18:00:00 +0000"},
		"every hour of them":                       {"0 8-17 * * *", time.Hour, "2026-11-30 18:00:00 +0000"},
		"longer than their period":                 {"0 8-17 * * *", 90 * time.Minute, "2026-11-30 18:30:00 +0000"},
		"day by day, on working days":              {"0 0 * * 1-5", 24 * time.Hour, "2026-12-05 00:00:00 +0000"},
		"every minute of a month":                  {"* * * 11 *", time.Minute, "2026-12-01 00:00:00 +0000"},
		"every minute of all months but one":       {"* * * 2-12 *", time.Minute, "2027-01-01 00:00:00 +0000"},
		"every minute, for a thousand hours":       {"* * * * *", 1000 * time.Hour, "never"},
		"every minute, for a minute":               {"* * * * *", time.Minute, "never"},
		"every minute, for less than a minute":     {"* * * * *", 59 * time.Second, "2026-11-30 12:00:59 +0000"},
		"every month, for longer than a month":     {"@monthly", 32 * 24 * time.Hour, "never"},
		"every month, for a short month":           {"@monthly", 30 * 24 * time.Hour, "2026-12-31 00:00:00 +0000"},
		"every year, up to the end of a leap year": {"@yearly", 365 * 24 * time.Hour, "2028-12-31 00:00:00 +0000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open, change := window(t, test.expression, "UTC", test.length).At(at(t, "UTC", "2026-11-30 12:00:00 +0000"))
			if got := show(t, "UTC", change); !open || got != test.want {
				t.Errorf("open %t until %s, want until %s", open, got, test.want)
			}
		})
	}
}

func TestTheTwentyNinthOfFebruaryComesInLeapYears(t *testing.T) {
	t.Parallel()
	w := window(t, "0 12 29 2 *", "UTC", time.Hour)
	for from, want := range map[string]string{
		"2026-11-30 12:00:00 +0000": "2028-02-29 12:00:00 +0000",
		"2028-02-29 13:00:00 +0000": "2032-02-29 12:00:00 +0000",
		// 2100 is no leap year: it is found once it is near enough.
		"2096-03-01 00:00:00 +0000": "never",
		"2099-03-01 00:00:00 +0000": "2104-02-29 12:00:00 +0000",
	} {
		if open, change := w.At(at(t, "UTC", from)); open || show(t, "UTC", change) != want {
			t.Errorf("from %s: open %t until %s, want closed until %s", from, open, show(t, "UTC", change), want)
		}
	}
}

func TestWhatCannotBeUnderstoodIsRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		expression, zone string
		length           time.Duration
		want             error
	}{
		"no expression":                   {"", "", time.Hour, ErrCron},
		"too few fields":                  {"0 8 * *", "", time.Hour, ErrCron},
		"a field for seconds":             {"0 0 8 * * *", "", time.Hour, ErrCron},
		"a minute that no hour has":       {"60 8 * * *", "", time.Hour, ErrCron},
		"a field of a comma":              {"0 8 , * *", "", time.Hour, ErrCron},
		"a time zone in the expression":   {"CRON_TZ=Europe/Berlin 0 8 * * *", "", time.Hour, ErrCron},
		"a time zone and nothing else":    {"TZ=", "", time.Hour, ErrCron},
		"an interval":                     {"@every 1h", "", time.Hour, ErrCron},
		"an unknown word":                 {"@noon", "", time.Hour, ErrCron},
		"the 30th of February":            {"0 8 30 2 *", "", time.Hour, ErrNever},
		"the 31st of months that have 30": {"0 8 31 4,6,9,11 *", "", time.Hour, ErrNever},
		"an unknown time zone":            {"0 8 * * *", "Europe/Berlinn", time.Hour, ErrZone},
		"the machine's time zone":         {"0 8 * * *", "Local", time.Hour, ErrZone},
		"a path":                          {"0 8 * * *", "../etc/localtime", time.Hour, ErrZone},
		"no length":                       {"0 8 * * *", "", 0, ErrLength},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Parse(test.expression, test.zone, test.length); !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
}

func TestTheWordsForCommonTimesAreUnderstood(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "0 8 * JAN MON-FRI"} {
		window(t, expression, "UTC", time.Hour)
	}
}
