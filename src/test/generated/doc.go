// Package generated tries objects that nobody would think of. They are generated
// from the CRDs' own schemas: for each field, what lies at and beyond its bounds,
// of another type, absent, null, oversized, or in an odd form.
//
// The apiserver must take each of them or refuse it with a message that names the
// field. What it takes, the controllers must handle. An object that was changed and
// changed back, or that was wrong first and put right, must end as one that was
// made right at once.
//
// What is random comes from a seed, which a failure prints; set SeedVariable to try
// it again.
package generated
