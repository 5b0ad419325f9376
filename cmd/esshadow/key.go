package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/esshadow/esshadow/sanitize"
)

func newKeyCmd(s *streams) *cobra.Command {
	c := &cobra.Command{
		Use:   "key",
		Short: "Make, name and destroy pseudonym keys",
		Long: `A key file holds 64 hexadecimal digits, as openssl rand -hex 32 prints, and is
readable by its owner alone. Whoever has the key of a capture can recompute the
pseudonym of any value that they guess; without it nobody can, the owner included.`,
		Example: "  esshadow key new /etc/esshadow/key\n  esshadow key id /etc/esshadow/key",
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newKeyNew(s), newKeyID(s), newKeyDestroy(s))
	return c
}

func oneArg(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("%s: want one %s\nSee '%s --help'.", c.CommandPath(), what, c.CommandPath())
		}
		return nil
	}
}

func newKeyNew(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:     "new FILE",
		Short:   "Write a new random key to a new file and print its id",
		Example: "  esshadow key new /etc/esshadow/key",
		Args:    oneArg("file"),
		RunE: func(_ *cobra.Command, args []string) error {
			id, err := makeKey(args[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(s.out, id)
			return nil
		},
	}
}

// makeKey writes a key to a file that must not be there yet.
func makeKey(path string) (id string, err error) {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("random numbers: %w", err)
	}
	defer clear(b[:])
	text := append(hex.AppendEncode(nil, b[:]), '\n')
	defer clear(text)
	key, err := sanitize.ParseKey(text)
	if err != nil {
		return "", err
	}
	return key.ID(), createPrivate(path, text)
}

// createPrivate writes a new file that its owner alone can read, and makes sure
// that it is on the disk. An existing file stays as it is.
func createPrivate(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes a created or removed name last. Systems that cannot sync a
// directory are not told apart from those that need not.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}

func newKeyID(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "id FILE",
		Short: "Print the id of a key, as it stands in captures made with it",
		Long: `id prints 16 hexadecimal digits that name the key and say nothing about it. The
same stand as key_id in 'capture stat --json' of captures made with the key. - is
standard input.`,
		Example: "  esshadow key id /etc/esshadow/key",
		Args:    oneArg("file"),
		RunE: func(_ *cobra.Command, args []string) error {
			key, err := readKey(args[0], s.in)
			if err != nil {
				return &codeError{exitUsage, err}
			}
			fmt.Fprintln(s.out, key.ID())
			return nil
		},
	}
}

func newKeyDestroy(s *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "destroy FILE",
		Short: "Overwrite and remove a key file, and print a receipt",
		Long: `destroy overwrites the file, syncs it to the disk, removes it, and prints which
key it was. Pseudonyms made with the key can then not be recomputed for a guessed
value any more. What stays: frequencies, structure, kept fields, and other copies
of the key. On file systems that copy on write, on snapshots, backups and on flash
memory the old blocks may live on: there, encrypt the disk.`,
		Example: "  esshadow key destroy /etc/esshadow/key > receipt.txt",
		Args:    oneArg("file"),
		RunE: func(_ *cobra.Command, args []string) error {
			key, err := sanitize.LoadKey(args[0])
			if err != nil {
				// What is no key is not destroyed: it may be another file.
				return &codeError{exitUsage, err}
			}
			if err := destroyFile(args[0]); err != nil {
				return err
			}
			fmt.Fprintf(s.out, "destroyed key %s, file %s, %s\n", key.ID(), args[0], time.Now().UTC().Format(time.RFC3339))
			return nil
		},
	}
}

// destroyFile overwrites a file in its place, with random bytes and with zeros,
// and removes it.
func destroyFile(path string) error {
	st, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return usage("%s: not a plain file", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	junk := make([]byte, st.Size())
	if _, err = rand.Read(junk); err == nil {
		err = overwrite(f, junk)
	}
	clear(junk)
	if err = errors.Join(err, overwrite(f, junk), f.Close()); err != nil {
		return fmt.Errorf("overwrite: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func overwrite(f *os.File, with []byte) error {
	if _, err := f.WriteAt(with, 0); err != nil {
		return err
	}
	return f.Sync()
}
