//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/example/vmoperator/src/test/rights"
)

// checkRights holds the rights that the chart gives against what its service
// accounts have asked for, as the audit log says that E2E_AUDIT_LOG names. It is for
// the end, when all tests have run. The table is in out/rights-used.md.
func checkRights() error {
	grants, err := rights.AllGrants(context.Background(), root)
	if err != nil {
		return err
	}
	log, err := os.Open(os.Getenv("E2E_AUDIT_LOG"))
	if err != nil {
		return fmt.Errorf("reading the audit log: %w", err)
	}
	defer log.Close()
	report, err := rights.Check(log, grants, rights.Common)
	if err != nil {
		return err
	}
	fmt.Println(report)
	out := filepath.Join(root, "out")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("writing the table of rights: %w", err)
	}
	if err := os.WriteFile(filepath.Join(out, "rights-used.md"), []byte(report.Table()), 0o644); err != nil {
		return fmt.Errorf("writing the table of rights: %w", err)
	}
	return report.Err()
}
