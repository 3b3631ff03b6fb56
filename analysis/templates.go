package analysis

import (
	"context"
	"errors"
	"fmt"

	"github.com/foreshard/foreshard/analysis/duck"
	"github.com/foreshard/foreshard/analysis/warehouse"
	"github.com/foreshard/foreshard/planner/sqltext"
)

// StoredTemplate is a template as the warehouse keeps it.
type StoredTemplate struct {
	ID         string // hex
	Template   *sqltext.Template
	SearchPath []string // nil: the default
}

// StoredTemplates reads the templates of the traffic, sorted by ID.
func StoredTemplates(ctx context.Context, w *warehouse.Warehouse) (list []StoredTemplate, err error) {
	err = w.View(ctx, func(snap *warehouse.Snapshot) (err error) {
		list, err = storedTemplates(ctx, w, snap)
		return err
	})
	return list, err
}

func storedTemplates(ctx context.Context, w *warehouse.Warehouse, snap *warehouse.Snapshot) (_ []StoredTemplate, err error) {
	db, err := duck.Open(ctx, snap)
	if err != nil {
		return nil, fmt.Errorf("read templates of warehouse %q: %w", w.Place(), err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	list, err := loadTemplates(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("read templates of warehouse %q: %w", w.Place(), err)
	}
	var out []StoredTemplate
	for _, t := range list {
		slots, err := sqltext.DecodeSlots(t.slots)
		if err != nil {
			return nil, fmt.Errorf("read template %s of warehouse %q: %w", t.id, w.Place(), err)
		}
		out = append(out, StoredTemplate{ID: t.id, Template: sqltext.NewTemplate(t.text, slots), SearchPath: splitPath(t.search)})
	}
	return out, nil
}
