package v1_test

import (
	"fmt"
	"strings"

	"github.com/example/vmoperator/src/test/schemarules"
)

// schedules are as many schedules, the first of them changed.
func schedules(n int, change map[string]any) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = map[string]any{"name": fmt.Sprintf("peak-%d", i), "cron": "0 8 * * 1-5", "duration": "10h", "replicas": int64(10)}
	}
	for field, value := range change {
		schedule := list[0].(map[string]any)
		if value == (schemarules.Absent{}) {
			delete(schedule, field)
		} else {
			schedule[field] = value
		}
	}
	return list
}

// schedule is one schedule with a field changed.
func schedule(field string, value any) []any { return schedules(1, map[string]any{field: value}) }

// scheduleRules are the rules about spec.schedules and status.schedule.
func scheduleRules() []schemarules.Rule {
	const (
		notName  = "the name of a schedule has lower case letters, digits and '-', for example peak"
		notCron  = "cron must be minute, hour, day of month, month and day of week, for example 0 8 * * 1-5, or one of @hourly, @daily, @weekly, @monthly and @yearly; a time zone goes into timeZone"
		notZone  = "timeZone must be a name of the IANA time zone database, for example Europe/Berlin"
		tooShort = "duration must be between 1m and 8760h"
	)
	text := func(n int) string { return strings.Repeat("a", n) }
	names := func(n int, first string) []any {
		list := []any{first, "low", "high"}
		return list[:n]
	}
	var rules []schemarules.Rule
	about := func(place string, accepted, refused any, message string) {
		field, _, _ := strings.Cut(place, " ")
		rules = append(rules, schemarules.Try("spec.schedules[]."+place, schedule(field, accepted), schedule(field, refused), message))
	}
	for field, value := range map[string]any{"name": "peak", "cron": "@daily", "duration": "1m"} {
		about(field+" required", value, schemarules.Absent{}, fmt.Sprintf("spec.schedules[0].%s: Required value", field))
	}
	about("name minLength", "a", "", "spec.schedules[0].name in body should be at least 1 chars long")
	about("name maxLength", text(63), text(64), "spec.schedules[0].name: Too long: may not be more than 63")
	about("name rule 1", "peak-2", "Peak", notName)
	about("name rule 1", "2", "-peak", notName)
	about("cron minLength", "@daily", "", "spec.schedules[0].cron in body should be at least 1 chars long")
	about("cron maxLength", strings.Repeat("0,", 123)+"0 8 * * *", strings.Repeat("0,", 124)+"0 8 * * *", "spec.schedules[0].cron: Too long: may not be more than 256")
	about("cron rule 1", "*/15 8-17 1,15 JAN-MAR MON-FRI", "0 8 * *", notCron)
	about("cron rule 1", "0 8  * * ?", "0 0 8 * * *", notCron)
	about("cron rule 1", "@weekly", "@every 1h", notCron)
	about("cron rule 1", "@hourly", "TZ=Europe/Berlin 0 8 * * *", notCron)
	about("cron rule 1", "@yearly", "0 8 * * *\n", notCron)
	about("timeZone minLength", "Z", "", "spec.schedules[0].timeZone in body should be at least 1 chars long")
	about("timeZone maxLength", text(64), text(65), "spec.schedules[0].timeZone: Too long: may not be more than 64")
	about("timeZone rule 1", "America/Argentina/Buenos_Aires", "Local", notZone)
	about("timeZone rule 1", "Etc/GMT+1", "../etc/passwd", notZone)
	about("duration maxLength", "600s", strings.Repeat("1h", 17), "spec.schedules[0].duration: Too long: may not be more than 32")
	about("duration pattern", "1h30m", "1d", "spec.schedules[0].duration in body should match")
	about("duration rule 1", "1m", "59s", tooShort)
	about("duration rule 1", "8760h", "8761h", tooShort)
	about("replicas minimum", int64(0), int64(-1), "spec.schedules[0].replicas in body should be greater than or equal to 0")
	bounded := func(least, most any) map[string]any {
		bounds := map[string]any{"replicas": schemarules.Absent{}}
		for field, value := range map[string]any{"minReplicas": least, "maxReplicas": most} {
			if value != nil {
				bounds[field] = value
			}
		}
		return bounds
	}
	// scaled is a spec with a HorizontalPodAutoscaler, unless most is nil, and a schedule.
	scaled := func(most any, change map[string]any) map[string]any {
		spec := map[string]any{"deploymentName": "order-service", "replicas": int64(5), "schedules": schedules(1, change)}
		if most != nil {
			spec["maxReplicas"] = most
		}
		return spec
	}
	try := schemarules.Try
	const (
		kinds   = "a schedule sets replicas, or minReplicas and maxReplicas or one of these"
		crossed = "minReplicas of a schedule may not exceed its maxReplicas"
		wrong   = "with maxReplicas a schedule sets minReplicas or maxReplicas, and without it replicas"
	)
	two, three := int64(2), int64(3)
	for _, in := range []schemarules.Rule{
		try("spec.schedules[] rule 1", scaled(nil, nil), scaled(nil, bounded(nil, nil)), kinds),
		try("spec.schedules[] rule 1", scaled(three, bounded(two, nil)), scaled(three, map[string]any{"minReplicas": two}), kinds),
		try("spec.schedules[] rule 1", scaled(three, bounded(nil, two)), scaled(three, map[string]any{"maxReplicas": two}), kinds),
		try("spec.schedules[] rule 2", scaled(three, bounded(two, two)), scaled(three, bounded(three, two)), crossed),
		try("spec.schedules[].minReplicas minimum", scaled(three, bounded(int64(1), nil)), scaled(three, bounded(int64(0), nil)), "spec.schedules[0].minReplicas in body should be greater than or equal to 1"),
		try("spec.schedules[].maxReplicas minimum", scaled(three, bounded(nil, int64(1))), scaled(three, bounded(nil, int64(0))), "spec.schedules[0].maxReplicas in body should be greater than or equal to 1"),
		try("spec rule 4", scaled(nil, nil), scaled(three, nil), wrong),
		try("spec rule 4", scaled(three, bounded(two, three)), scaled(nil, bounded(two, three)), wrong),
	} {
		rules = append(rules, in.In("spec"))
	}
	for _, of := range []string{"status.schedule", "status.schedule.next"} {
		inForce := func(names []any) map[string]any {
			return map[string]any{"time": "2026-11-30T08:00:00Z", "inForce": names}
		}
		rules = append(
			rules,
			try(of+".inForce maxItems", inForce(names(2, "peak")), inForce(names(3, "peak")), of+".inForce: Too many: 3: must have at most 2 items").In(of),
			try(of+".inForce unique", inForce(names(2, "peak")), inForce(names(2, "low")), of+`.inForce[1]: Duplicate value: "low"`).In(of),
			try(of+".inForce[] maxLength", inForce(names(1, text(63))), inForce(names(1, text(64))), of+".inForce[0]: Too long: may not be more than 63").In(of),
		)
	}
	return append(
		rules,
		try("spec.schedules maxItems", schedules(16, nil), schedules(17, nil), "spec.schedules: Too many: 17: must have at most 16 items"),
		try("spec.schedules unique", schedules(2, nil), schedules(2, map[string]any{"name": "peak-1"}), `spec.schedules[1]: Duplicate value: {"name":"peak-1"}`),
		try("status.schedule.next.time required", map[string]any{"time": "2026-11-30T08:00:00Z"}, map[string]any{}, "status.schedule.next.time: Required value").In("status.schedule.next"),
	)
}
