{{- define "authserve.name" -}}
{{- if contains "authserve" .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-authserve" (.Release.Name | trunc 40 | trimSuffix "-") }}{{ end }}
{{- end }}

{{- define "authserve.selector" -}}
app.kubernetes.io/name: authserve
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "authserve.labels" -}}
{{ include "authserve.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}
