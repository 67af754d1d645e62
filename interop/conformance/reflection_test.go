//go:build reflection

package main

// generated says whether the types of this build have generated methods.
const generated = false
