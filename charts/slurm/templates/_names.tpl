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

{{/*
Fails before helm deletes a cluster of this release whose name is longer than ours: upstream's chart cuts names at 63 characters. The
new Controller would have none of its jobs.
*/}}
{{- define "slurm.keepName" -}}
{{- $full := include "slurm.fullname" . -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $long := .Values.fullnameOverride | default (ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name)) -}}
{{- $long = $long | trunc 63 | trimSuffix "-" -}}
{{- if and (ne $long $full) (lookup "slinky.slurm.net/v1beta1" "Controller" (include "slurm.namespace" .) $long) -}}
{{- fail (printf "helm would delete the cluster %s with its jobs and create %s: this chart cuts names at 38 characters. Leave this release as it is; the operator runs its objects without this chart" $long $full) -}}
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
