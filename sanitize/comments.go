package sanitize

import "github.com/esshadow/esshadow/internal/es"

// stripComments copies a JSON text without its comments.
func stripComments(in []byte, maxDepth int) ([]byte, error) {
	t := es.Tokens{MaxDepth: maxDepth}
	t.Reset(in)
	out := make([]byte, 0, len(in))
	for pos := 0; ; {
		k, err := t.Next()
		if err != nil {
			return nil, err
		}
		out = appendGap(out, in[pos:k.Start])
		if k.Kind == es.End {
			return out, nil
		}
		out = append(out, in[k.Start:k.End]...)
		pos = k.End
	}
}

// appendGap appends what stands between two tokens, comments left out.
func appendGap(out, gap []byte) []byte {
	for i := 0; i < len(gap); i++ {
		if gap[i] != '/' || i+1 >= len(gap) {
			out = append(out, gap[i])
			continue
		}
		line := gap[i+1] == '/'
		for i += 2; i < len(gap); i++ {
			if line && gap[i] == '\n' {
				out = append(out, '\n')
				break
			}
			if !line && gap[i] == '/' && gap[i-1] == '*' {
				break
			}
		}
	}
	return out
}
