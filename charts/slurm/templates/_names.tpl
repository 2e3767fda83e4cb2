{{/* Names and labels. */}}

{{- define "slurm.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 38 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 38 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 38 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "slurm.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{/* Labels of the chart's objects. The operator does not copy the chart's version to pods. */}}
{{- define "slurm.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: slurm
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/* metadata of an object. Arguments: root, name; optional: values (labels and annotations of the component), annotations (of the chart). */}}
{{- define "slurm.metadata" -}}
name: {{ .name }}
namespace: {{ include "slurm.namespace" .root }}
{{- $own := dig "metadata" dict (.values | default dict) | default dict }}
labels:
  {{- mergeOverwrite (include "slurm.labels" .root | fromYaml) ($own.labels | default dict) | toYaml | nindent 2 }}
{{- with mergeOverwrite (deepCopy (.annotations | default dict)) ($own.annotations | default dict) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
