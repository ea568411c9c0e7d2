// Package quiet tests that what the operator writes on objects from git is no
// difference to Argo CD: objects of gitops/ are applied as Argo CD applies them, and
// compared, once the operator has worked on them, as it compares them.
package quiet
