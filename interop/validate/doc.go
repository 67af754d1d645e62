// Package validate holds that protovalidate judges a frame as it judges the ordinary message, alone
// and in a server's interceptor. It is a module of its own since it needs protovalidate.
package validate

//go:generate go run ./generate .
