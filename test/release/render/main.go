// Renders a chart of Helm as `helm template` does, with the same template engine and functions. Debian has no helm.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func readYaml(path string) map[string]interface{} {
	content, err := os.ReadFile(path)
	check(err)
	values := map[string]interface{}{}
	check(yaml.Unmarshal(content, &values))
	return values
}

// Lays the given values over the chart's own, as Helm does: maps are merged, everything else is replaced.
func merge(into, from map[string]interface{}) {
	for key, value := range from {
		below, isMap := value.(map[string]interface{})
		own, wasMap := into[key].(map[string]interface{})
		if isMap && wasMap {
			merge(own, below)
		} else {
			into[key] = value
		}
	}
}

func toYaml(value interface{}) string {
	content, err := yaml.Marshal(value)
	check(err)
	return strings.TrimSuffix(string(content), "\n")
}

// Usage: render CHART RELEASE, with values as JSON on standard input. Prints the documents.
func main() {
	chart, release := os.Args[1], os.Args[2]
	values := readYaml(filepath.Join(chart, "values.yaml"))
	given := map[string]interface{}{}
	check(json.NewDecoder(os.Stdin).Decode(&given))
	merge(values, given)
	about := readYaml(filepath.Join(chart, "Chart.yaml"))

	templates := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	functions["toYaml"] = toYaml
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text bytes.Buffer
		err := templates.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	templates.Funcs(functions)
	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	check(err)
	for _, file := range files {
		content, err := os.ReadFile(file)
		check(err)
		_, err = templates.New(filepath.Base(file)).Parse(string(content))
		check(err)
	}
	data := map[string]interface{}{
		"Values":  values,
		"Chart":   map[string]interface{}{"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
		"Release": map[string]interface{}{"Name": release, "Namespace": "default", "Service": "Helm"},
	}
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "_") {
			continue
		}
		var text bytes.Buffer
		check(templates.ExecuteTemplate(&text, filepath.Base(file), data))
		if strings.HasSuffix(file, ".yaml") {
			fmt.Printf("---\n%s\n", text.String())
		}
	}
}
