// Package service is the way of a new user: in an empty repository outside this one, with
// buf's managed mode on, it puts graven/options.proto into the tree, generates,
// builds and runs a service. It is a module of its own since it fetches what such a
// repository fetches; all of it is tests.
package service
