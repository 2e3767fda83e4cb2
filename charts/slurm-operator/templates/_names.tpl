{{/* Names and labels. */}}

{{- define "operator.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "operator.fullname" -}}
{{- default (include "operator.name" .) .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "operator.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{/* Arguments: root, component (operator, webhook or dashboard). */}}
{{- define "operator.componentName" -}}
{{- include "operator.fullname" .root -}}{{- if ne .component "operator" -}}-{{ .component }}{{- end -}}
{{- end -}}

{{/* Selectors never change: no version in them. */}}
{{- define "operator.selector" -}}
app.kubernetes.io/name: {{ include "operator.name" .root }}{{ if ne .component "operator" }}-{{ .component }}{{ end }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end -}}

{{- define "operator.labels" -}}
{{ include "operator.selector" . }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/component: {{ .component }}
app.kubernetes.io/part-of: slurm-operator
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- end -}}

{{- define "operator.serviceAccount" -}}
{{- $account := (get .root.Values .component).serviceAccount -}}
{{- $account.name | default (ternary (include "operator.componentName" .) "default" $account.create) -}}
{{- end -}}

{{/* The Secret with the certificate of the webhook: one per release, because the certificate names its Service. */}}
{{- define "operator.certificateSecret" -}}
{{- .Values.certManager.secretName | default (printf "%s-webhook-ca" (include "operator.fullname" .)) -}}
{{- end -}}

{{/* The namespaces that a component watches, as JSON; an empty list means all. */}}
{{- define "operator.namespaces" -}}
{{- $names := list -}}
{{- range splitList "," (get .root.Values .component).namespaces -}}
{{- if trim . -}}{{- $names = append $names (trim .) -}}{{- end -}}
{{- end -}}
{{- toJson $names -}}
{{- end -}}
