package es

// maxErrorType bounds the length of an error type, in bytes.
const maxErrorType = 96

// errorType reads the value of a member error: an object with a type, and
// perhaps with root causes, or a text. Reasons are passed over.
func (z *Summarizer) errorType() (typ, root string) {
	c := &z.c
	k := c.next()
	switch k.Kind {
	case String:
		return "text", ""
	case ObjectStart:
	default:
		c.leave(k)
		return "", ""
	}
	typ = "other"
	for key := c.member(); key != nil; key = c.member() {
		switch string(key) {
		case "type":
			typ = z.typeName(c.str())
		case "root_cause":
			root = z.rootCause()
		default:
			c.skip()
		}
	}
	if root == typ {
		root = ""
	}
	return typ, root
}

// rootCause is the type of the first of the root causes.
func (z *Summarizer) rootCause() (root string) {
	c := &z.c
	if !c.enter(ArrayStart) {
		return ""
	}
	for k, ok := c.element(); ok; k, ok = c.element() {
		if k.Kind != ObjectStart || root != "" {
			c.leave(k)
			continue
		}
		for key := c.member(); key != nil; key = c.member() {
			if string(key) == "type" {
				root = z.typeName(c.str())
			} else {
				c.skip()
			}
		}
	}
	return root
}

// typeName is b if it looks like the name of a class of errors, else "other".
// The names that come by the thousand cost no allocation.
func (z *Summarizer) typeName(b []byte) string {
	if len(b) == 0 || len(b) > maxErrorType {
		return "other"
	}
	for _, c := range b {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '_' && c != '.' && c != '$' && c != '-' {
			return "other"
		}
	}
	if b[0] >= '0' && b[0] <= '9' {
		return "other"
	}
	for i := range z.bulk {
		if z.bulk[i].Error == string(b) {
			return z.bulk[i].Error
		}
	}
	return string(b)
}
