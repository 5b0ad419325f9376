package segment

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
)

// This file is the byte layout, and the only one that knows it; the text is in
// docs/segment-format.md. All numbers are little-endian, all checksums CRC32C.
//
// A file is a header, blocks and a footer. Each is one skippable frame of
// RFC 8878 with a tag in front of its content, and a block's frame is followed
// by one data frame, which any zstd decoder prints.
const (
	formatVersion = 1

	frameMagic = 0x184D2A5E // skippable frame number 14
	tagFile    = "ESHF"
	tagBlock   = "ESHB"
	tagFooter  = "ESHZ"
	tagTail    = "ESHE"

	frameLen  = 8  // magic and length, in front of every skippable frame
	tagEnd    = 12 // end of the tag: what resync looks at first
	fileFixed = 20 // bytes of a file header in front of its JSON
	sumLen    = 4  // checksum behind it

	blockLen    = 68 // all of a block header
	blockSummed = blockLen - sumLen

	footerFixed = 68 // bytes of a footer in front of its JSON
	entryLen    = 48 // a row of the block table
	tailLen     = 12 // length of the footer, tag, checksum: the last bytes of a file

	kindZstd   = 0 // the data frame is plain zstd
	kindSealed = 1 // a skippable frame with the data frame encrypted

	flagSealed  = 1 // of a file: its blocks are sealed
	tagSealed   = "ESHS"
	sealedFixed = 12 // bytes of a sealed frame in front of the ciphertext

	maxMeta   = 1 << 20 // longest file header, of any version
	maxBlocks = 1 << 20 // of a file: the writer rotates before its table grows larger
	maxFooter = footerFixed + maxMeta + maxBlocks*entryLen + tailLen
)

// sum is the checksum of b. MakeTable keeps the table of this polynomial itself.
func sum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// appendFrame starts a skippable frame of n content bytes, the tag among them.
func appendFrame(dst []byte, tag string, n int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, frameMagic)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
	return append(dst, tag...)
}

// hasTag says whether b starts one of our frames with the tag, as far as b goes.
func hasTag(b []byte, tag string) bool {
	want := appendFrame(make([]byte, 0, tagEnd), tag, 0)
	return bytes.HasPrefix(want, b[:min(len(b), 4)]) && (len(b) <= frameLen || bytes.HasPrefix(want[frameLen:], b[frameLen:min(len(b), tagEnd)]))
}

// appendFileHeader appends a header. The checksum that ends it is also the
// file's mark, which its blocks and its footer repeat: a block that comes from
// another file (a recycled disk page, a bad copy) is never taken for one of this.
func appendFileHeader(dst []byte, m Meta) (out []byte, mark uint32, err error) {
	m.Format = formatVersion
	text, err := json.Marshal(m)
	if err != nil {
		return dst, 0, fmt.Errorf("encode header: %w", err)
	}
	if len(text) > maxMeta-fileFixed-sumLen {
		return dst, 0, fmt.Errorf("encode header: %d bytes of JSON, at most %d", len(text), maxMeta-fileFixed-sumLen)
	}
	start := len(dst)
	dst = appendFrame(dst, tagFile, fileFixed-frameLen+len(text)+sumLen)
	dst = binary.LittleEndian.AppendUint16(dst, formatVersion)
	dst = binary.LittleEndian.AppendUint16(dst, m.flags())
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text)))
	dst = append(dst, text...)
	mark = sum(dst[start:])
	return binary.LittleEndian.AppendUint32(dst, mark), mark, nil
}

// flags of the header.
func (m *Meta) flags() uint16 {
	if len(m.Sealed) > 0 {
		return flagSealed
	}
	return 0
}

// wholeFrame reads the length of a whole skippable frame from its first bytes.
func wholeFrame(b []byte) int64 { return frameLen + int64(binary.LittleEndian.Uint32(b[4:])) }

// decodeFileHeader reads a whole file header. What holds for every version, this
// and later ones: magic, length, tag, version at their places and a checksum of
// all that at the end. newer names what this version does not know.
func decodeFileHeader(b []byte) (m Meta, mark uint32, newer, bad string) {
	if len(b) < fileFixed+sumLen || !hasTag(b, tagFile) || wholeFrame(b) != int64(len(b)) {
		return m, 0, "", "header has a wrong length"
	}
	end := len(b) - sumLen
	if mark = binary.LittleEndian.Uint32(b[end:]); sum(b[:end]) != mark {
		return m, 0, "", "header has a wrong checksum"
	}
	if v := binary.LittleEndian.Uint16(b[12:]); v != formatVersion {
		return m, mark, fmt.Sprintf("format version %d", v), ""
	}
	flags := binary.LittleEndian.Uint16(b[14:])
	if flags&^flagSealed != 0 {
		return m, mark, fmt.Sprintf("header flags %#x", flags), ""
	}
	if int64(binary.LittleEndian.Uint32(b[16:])) != int64(end-fileFixed) {
		return m, mark, "", "header has a wrong length"
	}
	if json.Unmarshal(b[fileFixed:end], &m) != nil {
		return Meta{}, mark, "", "header is not readable JSON"
	}
	if m.flags() != flags {
		return Meta{}, mark, "", "header contradicts its flags"
	}
	return m, mark, "", ""
}

// BlockInfo is what a block's header and its row in the footer say.
type BlockInfo struct {
	Offset    int64  // of the block header in the file
	Seq       uint32 // of the block in the file, from 0
	Index     uint64 // number of the block's first line in the file, from 0
	Records   uint32 // lines
	RawLen    uint32 // bytes of the lines
	PackedLen uint32 // bytes of the data frame
	First     int64  // smallest time of a line, Unix ns
	Last      int64  // largest time of a line, Unix ns
}

// end is the offset behind the block.
func (b BlockInfo) end() int64 { return b.Offset + blockLen + int64(b.PackedLen) }

// putBlockHeader fills the first blockLen bytes of b, whose rest is the data frame.
func putBlockHeader(b []byte, kind uint16, mark uint32, i BlockInfo) {
	h := appendBlockHeader(b[:0], kind, mark, i, sum(b[blockLen:]))
	binary.LittleEndian.AppendUint32(h, sum(h))
}

// sealedHeader is a sealed block's header as its ciphertext vouches for it: what
// only the ciphertext decides is 0.
func sealedHeader(mark uint32, i BlockInfo) []byte {
	i.PackedLen = 0
	return appendBlockHeader(nil, kindSealed, mark, i, 0)
}

// appendBlockHeader appends all of a block's header but its own checksum.
func appendBlockHeader(h []byte, kind uint16, mark uint32, i BlockInfo, packed uint32) []byte {
	h = appendFrame(h, tagBlock, blockLen-frameLen)
	h = binary.LittleEndian.AppendUint16(h, kind)
	h = binary.LittleEndian.AppendUint16(h, 0) // flags
	h = binary.LittleEndian.AppendUint32(h, mark)
	h = binary.LittleEndian.AppendUint32(h, i.Seq)
	h = binary.LittleEndian.AppendUint64(h, i.Index)
	h = binary.LittleEndian.AppendUint32(h, i.Records)
	h = binary.LittleEndian.AppendUint32(h, i.RawLen)
	h = binary.LittleEndian.AppendUint32(h, i.PackedLen)
	h = binary.LittleEndian.AppendUint32(h, packed)
	h = binary.LittleEndian.AppendUint64(h, uint64(i.First))
	return binary.LittleEndian.AppendUint64(h, uint64(i.Last))
}

// blockHeader is a decoded block header.
type blockHeader struct {
	BlockInfo
	mark  uint32
	sum   uint32 // of the data frame
	kind  uint16
	newer string // what this version does not know
}

// decodeBlockHeader reads the header in the first blockLen bytes of b; ok only
// if its checksum holds.
func decodeBlockHeader(b []byte, offset int64) (h blockHeader, ok bool) {
	if len(b) < blockLen || !hasTag(b, tagBlock) || binary.LittleEndian.Uint32(b[blockSummed:]) != sum(b[:blockSummed]) {
		return h, false
	}
	h.kind = binary.LittleEndian.Uint16(b[12:])
	if flags := binary.LittleEndian.Uint16(b[14:]); h.kind > kindSealed || flags != 0 {
		h.newer = fmt.Sprintf("block kind %d flags %#x", h.kind, flags)
	}
	h.mark, h.sum = binary.LittleEndian.Uint32(b[16:]), binary.LittleEndian.Uint32(b[44:])
	h.BlockInfo = BlockInfo{
		Offset: offset, Seq: binary.LittleEndian.Uint32(b[20:]), Index: binary.LittleEndian.Uint64(b[24:]), Records: binary.LittleEndian.Uint32(b[32:]),
		RawLen: binary.LittleEndian.Uint32(b[36:]), PackedLen: binary.LittleEndian.Uint32(b[40:]),
		First: int64(binary.LittleEndian.Uint64(b[48:])), Last: int64(binary.LittleEndian.Uint64(b[56:])),
	}
	return h, binary.LittleEndian.Uint32(b[4:]) == blockLen-frameLen
}

// Footer is what the end of a closed file says about it.
type Footer struct {
	Records uint64 // lines of the blocks in the table
	Raw     uint64 // their bytes
	Packed  uint64 // bytes of their data frames
	First   int64  // smallest time, Unix ns; 0 without lines
	Last    int64  // largest time
	// Drops counts by reason what was not written between the last footer of
	// this writer and this one, so that the sum over files is the whole.
	Drops map[string]uint64
	// Repaired is true where Repair wrote the footer: the writer did not close the file.
	Repaired bool
	Blocks   []BlockInfo
}

// footerText is the part of the footer that is JSON.
type footerText struct {
	Drops    map[string]uint64 `json:"drops,omitempty"`
	Repaired bool              `json:"repaired,omitempty"`
}

// add counts a block.
func (f *Footer) add(b BlockInfo) {
	if len(f.Blocks) == 0 {
		f.First, f.Last = b.First, b.Last
	}
	f.First, f.Last = min(f.First, b.First), max(f.Last, b.Last)
	f.Records += uint64(b.Records)
	f.Raw += uint64(b.RawLen)
	f.Packed += uint64(b.PackedLen)
	f.Blocks = append(f.Blocks, b)
}

// next is the number of the line that would follow the last block.
func (f *Footer) next() uint64 {
	if len(f.Blocks) == 0 {
		return 0
	}
	last := f.Blocks[len(f.Blocks)-1]
	return last.Index + uint64(last.Records)
}

func appendFooter(dst []byte, mark uint32, f *Footer) ([]byte, error) {
	text, err := json.Marshal(footerText{Drops: f.Drops, Repaired: f.Repaired})
	if err != nil {
		return dst, fmt.Errorf("encode footer: %w", err)
	}
	n := footerFixed + len(text) + len(f.Blocks)*entryLen + tailLen
	if len(text) > maxMeta || len(f.Blocks) > maxBlocks {
		return dst, fmt.Errorf("encode footer: %d blocks and %d bytes of JSON are too many", len(f.Blocks), len(text))
	}
	start := len(dst)
	dst = appendFrame(dst, tagFooter, n-frameLen)
	dst = binary.LittleEndian.AppendUint32(dst, 0) // flags
	dst = binary.LittleEndian.AppendUint32(dst, mark)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(f.Blocks)))
	dst = binary.LittleEndian.AppendUint64(dst, f.Records)
	dst = binary.LittleEndian.AppendUint64(dst, f.Raw)
	dst = binary.LittleEndian.AppendUint64(dst, f.Packed)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.First))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(f.Last))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text)))
	dst = append(dst, text...)
	for _, b := range f.Blocks {
		dst = appendEntry(dst, b)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
	dst = append(dst, tagTail...)
	return binary.LittleEndian.AppendUint32(dst, sum(dst[start:])), nil
}

func appendEntry(dst []byte, b BlockInfo) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.Offset))
	dst = binary.LittleEndian.AppendUint64(dst, b.Index)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.First))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(b.Last))
	dst = binary.LittleEndian.AppendUint32(dst, b.Seq)
	dst = binary.LittleEndian.AppendUint32(dst, b.Records)
	dst = binary.LittleEndian.AppendUint32(dst, b.RawLen)
	return binary.LittleEndian.AppendUint32(dst, b.PackedLen)
}

func decodeEntry(b []byte) BlockInfo {
	return BlockInfo{
		Offset: int64(min(binary.LittleEndian.Uint64(b), math.MaxInt64)), Index: binary.LittleEndian.Uint64(b[8:]),
		First: int64(binary.LittleEndian.Uint64(b[16:])), Last: int64(binary.LittleEndian.Uint64(b[24:])),
		Seq: binary.LittleEndian.Uint32(b[32:]), Records: binary.LittleEndian.Uint32(b[36:]), RawLen: binary.LittleEndian.Uint32(b[40:]), PackedLen: binary.LittleEndian.Uint32(b[44:]),
	}
}

// footerLenAtTail reads the length of the footer from the last tailLen bytes of
// a file; 0 where they are no tail.
func footerLenAtTail(tail []byte) int64 {
	if len(tail) != tailLen || string(tail[4:8]) != tagTail {
		return 0
	}
	return int64(binary.LittleEndian.Uint32(tail))
}

// decodeFooter reads a whole footer; bad is empty if it is one and holds together.
func decodeFooter(b []byte, mark uint32, anyMark bool) (f *Footer, newer, bad string) {
	if len(b) < footerFixed+tailLen || !hasTag(b, tagFooter) || wholeFrame(b) != int64(len(b)) {
		return nil, "", "footer has a wrong length"
	}
	end := len(b) - sumLen
	if footerLenAtTail(b[len(b)-tailLen:]) != int64(len(b)) || binary.LittleEndian.Uint32(b[end:]) != sum(b[:end]) {
		return nil, "", "footer has a wrong checksum"
	}
	if !anyMark && binary.LittleEndian.Uint32(b[16:]) != mark {
		return nil, "", "footer of another file"
	}
	if flags := binary.LittleEndian.Uint32(b[12:]); flags != 0 {
		return nil, fmt.Sprintf("footer flags %#x", flags), ""
	}
	blocks, text := int64(binary.LittleEndian.Uint32(b[20:])), int64(binary.LittleEndian.Uint32(b[64:]))
	if footerFixed+text+blocks*entryLen+tailLen != int64(len(b)) {
		return nil, "", "footer has a wrong length"
	}
	f = &Footer{
		Records: binary.LittleEndian.Uint64(b[24:]), Raw: binary.LittleEndian.Uint64(b[32:]), Packed: binary.LittleEndian.Uint64(b[40:]),
		First: int64(binary.LittleEndian.Uint64(b[48:])), Last: int64(binary.LittleEndian.Uint64(b[56:])),
	}
	table := b[footerFixed+text:]
	var t footerText
	if json.Unmarshal(b[footerFixed:footerFixed+text], &t) != nil {
		return nil, "", "footer is not readable JSON"
	}
	f.Drops, f.Repaired = t.Drops, t.Repaired
	f.Blocks = make([]BlockInfo, blocks)
	for i := range f.Blocks {
		f.Blocks[i] = decodeEntry(table[i*entryLen:])
	}
	return f, "", ""
}
