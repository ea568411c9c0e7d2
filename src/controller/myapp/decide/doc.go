// Package decide says what to do next about a MyApp. It is pure: a State goes in, a
// Decision comes out, and nothing here can do I/O or tell the time.
//
// The checks are ordered and the first that matches wins, so the order is part
// of the meaning: read Decide from the top.
package decide
