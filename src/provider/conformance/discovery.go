package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// looks is how often what must not change is looked at.
const looks = 3

func discoveryChecks() []Check {
	return []Check{
		{
			Name:  "discovery/capabilities",
			Wants: "GET /capabilities tells identity, settleSeconds and capabilities; a 404 means that the provider offers the minimum",
			Where: openapi + "/components/schemas/Capabilities",
			needs: []need{needHTTP}, run: capabilities,
		},
		{
			Name:  "discovery/identity",
			Wants: "identity names the account or installation, and never changes for one",
			Where: contract + "capabilities",
			needs: []need{needDiscovery}, run: identity,
		},
	}
}

func capabilities(ctx context.Context, s *subject) error {
	answer, err := s.wire.get(ctx, "/capabilities", nil)
	if err != nil || answer.status == http.StatusNotFound {
		return err
	}
	if err := answer.want("GET /capabilities", http.StatusOK, http.StatusNotFound); err != nil {
		return err
	}
	var offer struct {
		Identity      *string   `json:"identity"`
		SettleSeconds *float64  `json:"settleSeconds"`
		Capabilities  *[]string `json:"capabilities"`
	}
	switch err := json.Unmarshal(answer.body, &offer); {
	case answer.media() != "application/json":
		return errors.New("GET /capabilities: the media type is not application/json")
	case err != nil:
		return errors.New("GET /capabilities: the body is not JSON, or a field has another type")
	case offer.Identity == nil || *offer.Identity == "" || len([]rune(*offer.Identity)) > 253:
		return errors.New("GET /capabilities: identity is not a string of 1 to 253 characters")
	case offer.SettleSeconds == nil || *offer.SettleSeconds < 0:
		return errors.New("GET /capabilities: settleSeconds is not a number from 0")
	case offer.Capabilities == nil:
		return errors.New("GET /capabilities: capabilities is not a list of words")
	}
	return nil
}

func identity(ctx context.Context, s *subject) error {
	if _, err := s.create(ctx); err != nil {
		return err
	}
	for range looks {
		now, err := s.client.Capabilities(ctx)
		if err != nil {
			return fmt.Errorf("GET /capabilities: %w", err)
		}
		if now.Identity != s.capabilities.Identity {
			return errors.New("GET /capabilities: the identity is another one than before")
		}
	}
	return nil
}
