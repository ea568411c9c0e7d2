// Package chart tests what the chart renders: what must hold for every object, with
// whichever values, and that what its alerts, its dashboard and its flags name
// exists. What a single value does is tested beside the chart, in its tests folder.
package chart
