// Package connectv2 runs the codec of package gravenconnect in version 2 of
// connect-go. It is a module of its own, so that Graven itself does not depend on
// that version; all of it is tests.
package connectv2
