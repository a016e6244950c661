// The scenario of clients.test.ts with the client that oapi-codegen makes, in the folder doorplate.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"doorplate.dev/test/client/doorplate"
)

var (
	ctx      = context.Background()
	hostname = os.Getenv("HOSTNAME")
)

func connect(key string) *doorplate.ClientWithResponses {
	client, err := doorplate.NewClientWithResponses(os.Getenv("API"),
		doorplate.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+key)
			return nil
		}))
	must(err)
	return client
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// good ends the program if an answer has not the body that is wanted.
func good[T any](wanted *T, body []byte) *T {
	if wanted == nil {
		must(fmt.Errorf("%s", body))
	}
	return wanted
}

func waitFor(api *doorplate.ClientWithResponses, isSo func(*doorplate.Hostname) bool) *doorplate.Hostname {
	for range 60 {
		answer, err := api.GetHostnameWithResponse(ctx, "docs", hostname, nil)
		must(err)
		if found := good(answer.JSON200, answer.Body); isSo(found) {
			return found
		}
		time.Sleep(500 * time.Millisecond)
	}
	must(fmt.Errorf("it never came"))
	return nil
}

func main() {
	api := connect(os.Getenv("KEY"))
	added, err := api.AddHostnameWithResponse(ctx, "docs", nil, doorplate.NewHostname{Hostname: hostname})
	must(err)
	good(added.JSON201, added.Body)
	record := waitFor(api, func(h *doorplate.Hostname) bool { return len(h.Records) > 0 }).Records[0]
	check, err := api.VerifyHostnameWithResponse(ctx, "docs", hostname, nil)
	must(err)
	good(check.JSON202, check.Body)
	phase := waitFor(api, func(h *doorplate.Hostname) bool { return h.Phase == doorplate.Live }).Phase

	var problem *doorplate.TooManyRequests
	for problem == nil {
		answer, err := api.ListProjectsWithResponse(ctx, nil)
		must(err)
		if problem = answer.ApplicationproblemJSON429; problem != nil {
			time.Sleep(time.Duration(*answer.Headers429.RetryAfter) * time.Second)
		}
	}
	page, err := api.ListProjectsWithResponse(ctx, nil)
	must(err)
	projects := []string{}
	for _, project := range good(page.JSON200, page.Body).Items {
		projects = append(projects, project.Name)
	}

	overlap, once := int32(60), "the rotation of this test"
	rotated, err := api.RotateKeyWithResponse(ctx, "ci", &doorplate.RotateKeyParams{IdempotencyKey: &once},
		doorplate.KeyRotation{OverlapSeconds: &overlap})
	must(err)
	answer, err := connect(*good(rotated.JSON200, rotated.Body).Token).GetAccountWithResponse(ctx, nil)
	must(err)
	account := good(answer.JSON200, answer.Body)

	must(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"record":   fmt.Sprintf("%s %s %s", record.Type, record.Name, record.Value),
		"phase":    phase,
		"refused":  fmt.Sprintf("%d %s", problem.Status, problem.Type),
		"projects": projects,
		"account":  fmt.Sprintf("%s %d", account.Key.Name, account.Usage.Minute.Limit),
	}))
}
