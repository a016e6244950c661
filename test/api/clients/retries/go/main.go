// Reads the projects over and over, four requests at a time, by go-retryablehttp with its own defaults. After a final failure the
// next request starts immediately.
//
//	API=http://HOST:PORT KEY=dp_... client
package main

import (
	"io"
	"net/http"
	"os"

	"github.com/hashicorp/go-retryablehttp"
)

func main() {
	client := retryablehttp.NewClient()
	client.Logger = nil
	for range 4 {
		go func() {
			for {
				read(client)
			}
		}()
	}
	select {}
}

func read(client *retryablehttp.Client) {
	request, err := retryablehttp.NewRequest(http.MethodGet, os.Getenv("API")+"/v1/projects", nil)
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("KEY"))
	answer, err := client.Do(request)
	if err != nil {
		return
	}
	defer answer.Body.Close()
	io.Copy(io.Discard, answer.Body)
}
