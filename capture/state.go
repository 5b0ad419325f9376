package capture

// State says whether capture works. Its text is what metrics and readiness show.
type State uint8

// The states.
const (
	StateOff     State = iota // no recorder, or a closed one
	StateOn                   // captures
	StatePaused               // switched off for the time being
	StateDiskLow              // free space is below the floor; on again by itself
	StateFailed               // cannot write; tried again, and on again by itself
	stateCount
)

// States lists all of them.
func States() []State {
	out := make([]State, 0, stateCount)
	for s := range stateCount {
		out = append(out, s)
	}
	return out
}

// String is the state's name: off, on, paused, disk_low, failed.
func (s State) String() string {
	switch s {
	case StateOn:
		return "on"
	case StatePaused:
		return "paused"
	case StateDiskLow:
		return "disk_low"
	case StateFailed:
		return "failed"
	}
	return "off"
}

// dropReason is the reason for which requests are dropped in a state, "" if they
// are not.
func (s State) dropReason() string {
	switch s {
	case StateOff:
		return DropClosed
	case StatePaused:
		return DropPaused
	case StateDiskLow:
		return DropDiskLow
	case StateFailed:
		return DropWriteFailed
	}
	return ""
}
