// Package crash proves that there is exactly one VM for each VirtualMachine, and
// that a Deployment is only ever what somebody asks for, whatever effect of the
// operator's a crash falls on.
//
// A scenario is run once undisturbed, and every effect that the operator has in it
// is recorded: each write to the apiserver and each change at the provider. Then
// it is run again for every effect and every way to disturb it, with the operator
// as a process that is killed in earnest: see Mode. Throughout, a ledger is held
// against the objects, and each version of a Deployment against its Chronicle. In
// the end all must be as it was in the undisturbed run, and stay so.
//
// `make crash` tries every point, and plants faults in the operator that must turn
// the harness red. A plain go test tries the points of one scenario.
package crash
