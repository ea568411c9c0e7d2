// Package workloads tests what AppAutoscalers and MyApps do together: both
// controllers run in one manager, and work on one Deployment.
package workloads
