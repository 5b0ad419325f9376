package audit

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
)

// Bounds of one frame of a file, packed and unpacked.
const (
	maxFrame = 256 << 20
	maxLines = 256 << 20
)

// File looks through a capture file: its name, the frames that zstd skips, and
// every line of the others. The file is read as the zstd format (RFC 8878)
// alone says; the lines of a sealed one come from Options.Unseal. The error says that the file could not be read at all; what could
// not be decoded is a trouble of the report.
func (s *Scanner) File(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	defer func() { _ = f.Close() }()
	name := filepath.Base(path)
	s.report.Files++
	s.sealed = false
	s.begin(name, -1)
	s.at.Field = "file name"
	s.text([]byte(name), 0, "", false)
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxLines))
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	defer dec.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	for {
		err := s.frame(name, in, dec)
		if errors.Is(err, io.EOF) {
			s.unseal(name, path)
			return nil
		}
		if err != nil {
			s.begin(name, -1)
			s.trouble(err.Error())
			return nil
		}
	}
}

// unseal looks through the lines of a file whose header said that it is sealed.
func (s *Scanner) unseal(name, path string) {
	if !s.sealed {
		return
	}
	err := s.opt.Unseal(path, func(line []byte) { s.Line(name, line) })
	if err != nil {
		s.begin(name, -1)
		s.trouble("sealed file cannot be read: " + err.Error())
	}
}

// frame looks through the frame that comes next; io.EOF where none does.
func (s *Scanner) frame(name string, in *bufio.Reader, dec *zstd.Decoder) error {
	head, err := in.Peek(4)
	if len(head) == 0 && errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err != nil {
		return errors.New("file ends inside of a frame")
	}
	magic := binary.LittleEndian.Uint32(head)
	switch {
	case magic&^0xF == 0x184D2A50:
		return s.skippable(name, in)
	case magic != 0xFD2FB528:
		return errors.New("no zstd frame")
	}
	packed, err := dataFrame(in)
	if err != nil {
		return err
	}
	lines, err := dec.DecodeAll(packed, nil)
	if err != nil {
		return errors.New("zstd frame cannot be decoded")
	}
	for line := range bytes.Lines(lines) {
		s.Line(name, bytes.TrimSuffix(line, []byte{'\n'}))
	}
	return nil
}

// skippable looks through a frame that zstd passes over. Block headers and
// tables are numbers; what is text in them is looked at as any text.
func (s *Scanner) skippable(name string, in *bufio.Reader) error {
	var head [8]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return errors.New("file ends inside of a frame")
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > maxFrame {
		return errors.New("frame is larger than the bound")
	}
	content := make([]byte, size)
	if _, err := io.ReadFull(in, content); err != nil {
		return errors.New("file ends inside of a frame")
	}
	if bytes.HasPrefix(content, []byte("ESHF")) && len(content) > 8 && content[6]&1 != 0 {
		if s.opt.Unseal == nil {
			return errors.New("file is sealed: give the age identity that opens it")
		}
		s.sealed = true
	}
	s.report.Bytes += int64(size)
	if s.sealed && bytes.HasPrefix(content, []byte("ESHS")) {
		return nil // a block's ciphertext: its lines come from Unseal
	}
	s.begin(name, -1)
	s.at.Field = "frame " + tagOf(content)
	for _, piece := range texts(content) {
		s.text(piece, 0, "", false)
	}
	return nil
}

func tagOf(content []byte) string {
	if len(content) >= 4 && isAlnum(content[0]) && isAlnum(content[1]) && isAlnum(content[2]) && isAlnum(content[3]) {
		return string(content[:4])
	}
	return "untagged"
}

// texts are the pieces of content between bytes that no text has.
func texts(content []byte) [][]byte {
	return bytes.FieldsFunc(content, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0xFFFD })
}

// dataFrame reads the bytes of one zstd data frame: its header, its blocks by
// their sizes, its checksum.
func dataFrame(in *bufio.Reader) ([]byte, error) {
	peek, _ := in.Peek(zstd.HeaderMaxSize)
	var h zstd.Header
	if err := h.Decode(peek); err != nil || h.Skippable {
		return nil, errors.New("zstd frame header cannot be read")
	}
	var frame []byte
	take := func(n int) ([]byte, error) {
		if len(frame)+n > maxFrame {
			return nil, errors.New("frame is larger than the bound")
		}
		at := len(frame)
		frame = append(frame, make([]byte, n)...)
		if _, err := io.ReadFull(in, frame[at:]); err != nil {
			return nil, errors.New("file ends inside of a frame")
		}
		return frame[at:], nil
	}
	if _, err := take(h.HeaderSize); err != nil {
		return nil, err
	}
	for {
		b, err := take(3)
		if err != nil {
			return nil, err
		}
		v := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		size := v >> 3
		if v>>1&3 == 1 { // a block of one byte repeated
			size = 1
		}
		if _, err := take(size); err != nil {
			return nil, err
		}
		if v&1 != 0 {
			break
		}
	}
	if h.HasCheckSum {
		if _, err := take(4); err != nil {
			return nil, err
		}
	}
	return frame, nil
}
