package replay

import (
	"context"
)

// Ask sends one GET request on the control plane, and returns the answer's
// status and body. Path is what follows the target's URL, query included. An
// answer of more than limit bytes is an error; errors wrap one of the ErrTarget
// values.
func Ask(ctx context.Context, cfg TargetConfig, path string, limit int64) (status int, body []byte, err error) {
	c, err := newControl(cfg)
	if err != nil {
		return 0, nil, err
	}
	defer c.transport.CloseIdleConnections()
	c.limit = limit
	return c.get(ctx, path)
}
