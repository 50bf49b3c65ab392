// A plugin for Velero that keeps backups in a folder of this machine.
package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sirupsen/logrus"
	"github.com/vmware-tanzu/velero/pkg/plugin/framework"
)

func main() {
	framework.NewServer().RegisterObjectStore("mooring.dev/folder", func(logrus.FieldLogger) (any, error) {
		return &folder{}, nil
	}).Serve()
}

// folder is an object store: each object is a file below the folder, and the bucket is its first part.
type folder struct{ path string }

func (f *folder) Init(config map[string]string) error {
	f.path = config["folder"]
	if f.path == "" {
		return errors.New("the backup location's config has no folder")
	}
	return nil
}

func (f *folder) file(bucket, key string) string {
	return filepath.Join(f.path, bucket, filepath.FromSlash(key))
}

func (f *folder) PutObject(bucket, key string, body io.Reader) error {
	name := f.file(bucket, key)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, body)
	return errors.Join(err, out.Close())
}

func (f *folder) ObjectExists(bucket, key string) (bool, error) {
	_, err := os.Stat(f.file(bucket, key))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (f *folder) GetObject(bucket, key string) (io.ReadCloser, error) {
	return os.Open(f.file(bucket, key))
}

func (f *folder) ListObjects(bucket, prefix string) ([]string, error) {
	root := filepath.Join(f.path, bucket)
	keys := []string{}
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(root, path)
		if key := filepath.ToSlash(relative); err == nil && strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
		return err
	})
	return keys, err
}

// ListCommonPrefixes returns what follows the prefix, up to and with the delimiter, once each.
func (f *folder) ListCommonPrefixes(bucket, prefix, delimiter string) ([]string, error) {
	keys, err := f.ListObjects(bucket, prefix)
	seen := map[string]bool{}
	prefixes := []string{}
	for _, key := range keys {
		head, _, found := strings.Cut(strings.TrimPrefix(key, prefix), delimiter)
		if common := prefix + head + delimiter; found && !seen[common] {
			seen[common] = true
			prefixes = append(prefixes, common)
		}
	}
	return prefixes, err
}

func (f *folder) DeleteObject(bucket, key string) error {
	return os.Remove(f.file(bucket, key))
}

func (f *folder) CreateSignedURL(bucket, key string, _ time.Duration) (string, error) {
	return "", errors.New("no server has the folder's files")
}
