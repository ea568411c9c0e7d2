package main

import (
	appautoscaler "github.com/example/vmoperator/src/controller/appautoscaler/decide"
	myapp "github.com/example/vmoperator/src/controller/myapp/decide"
	virtualmachine "github.com/example/vmoperator/src/controller/virtualmachine/decide"
)

const never = "Never: only an event leads to the next look; after an action, the pass goes on at once."

func pages() []page {
	return []page{virtualMachines(), appAutoscalers(), myApps()}
}

func virtualMachines() page {
	p := page{file: "transitions.md", kind: "a VirtualMachine", delays: []string{
		never,
		"Soon: in about two seconds. Poll: after the ProviderConfig's pollInterval. Long: after an hour, in case an event was missed.",
		"Settle: every two seconds until absence counts. Recreate: when every other VM of the provider has been looked at.",
		"Backoff: after one second, twice as long after every further failure, at most a minute. Turn: when the rate limit,\n" +
			"  or the provider's Retry-After, lets the next call through.",
	}}
	for _, s := range virtualmachine.Situations() {
		d := virtualmachine.Decide(s.State)
		p.rows = append(p.rows, row{s.Name, d.Action.String(), d.Reason, d.Message, d.After.String()})
	}
	return p
}

func appAutoscalers() page {
	p := page{file: "transitions-appautoscaler.md", kind: "an AppAutoscaler", delays: []string{
		never,
		"Soon: within 10 seconds. Long: within 5 minutes, in case an event was missed.",
		"Turn: when what is fought over may be put back again, 5 minutes after the last time.",
		"Whatever waits looks again when other schedules come into force.",
	}}
	for _, s := range appautoscaler.Situations() {
		d := appautoscaler.Decide(s.State)
		p.rows = append(p.rows, row{s.Name, d.Action.String(), d.Reason, d.Message, d.After.String()})
	}
	return p
}

func myApps() page {
	p := page{file: "transitions-myapp.md", kind: "a MyApp", delays: []string{
		never,
		"Soon: within 10 seconds. Long: in about 5 minutes, in case an event was missed; after a Stall, in about 30 seconds.",
		"Turn: when what is fought over may be put back again, 5 minutes after the last time.",
		"Backoff: after one second, twice as long after every further failure, at most a minute.",
	}}
	for _, s := range myapp.Situations() {
		d := myapp.Decide(s.State)
		p.rows = append(p.rows, row{s.Name, d.Action.String(), d.Reason, d.Message, d.After.String()})
	}
	return p
}
