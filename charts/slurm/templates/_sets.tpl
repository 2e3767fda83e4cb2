{{/* Node sets and login sets merged with their defaults, deprecated values included. As JSON, because templates return text. */}}

{{/* A set over its defaults. A block whose lines are all commented out is null: then the default block stays. Arguments: defaults, own. */}}
{{- define "slurm.overDefaults" -}}
{{- $set := mergeOverwrite (deepCopy .defaults) (deepCopy (.own | default dict)) -}}
{{- include "slurm.fill" (dict "values" $set "defaults" .defaults) -}}
{{- toJson $set -}}
{{- end -}}

{{- define "slurm.nodesets" -}}
{{- $sets := dict -}}
{{- range $name, $own := .Values.nodesets -}}
{{- $set := include "slurm.overDefaults" (dict "defaults" $.Values.nodesetDefaults "own" $own) | fromJson -}}
{{- include "slurm.oldNodeset" (dict "name" $name "own" ($own | default dict)) -}}
{{- if $set.enabled -}}{{- $_ := set $sets $name $set -}}{{- end -}}
{{- end -}}
{{- toJson $sets -}}
{{- end -}}

{{- define "slurm.loginsets" -}}
{{- $sets := dict -}}
{{- range $name, $own := .Values.loginsets -}}
{{- $set := include "slurm.overDefaults" (dict "defaults" $.Values.loginsetDefaults "own" $own) | fromJson -}}
{{- if $set.enabled -}}{{- $_ := set $sets $name $set -}}{{- end -}}
{{- end -}}
{{- toJson $sets -}}
{{- end -}}

{{/*
Deprecated values of a node set. useResourceLimits: a worker always offers Slurm what its limits allow, so `true` is the default
behaviour; `false` would offer more than the limits allow.
*/}}
{{- define "slurm.oldNodeset" -}}
{{- if and (hasKey .own "useResourceLimits") (eq .own.useResourceLimits false) (dig "slurmd" "resources" "limits" dict .own) -}}
{{- fail (printf "nodesets.%s.useResourceLimits is false and nodesets.%s.slurmd.resources.limits is set: Slurm would allocate more than the pod may use. Remove one of them" .name .name) -}}
{{- end -}}
{{- end -}}

{{/* Whether something needs sssd.conf. */}}
{{- define "slurm.needsSssd" -}}
{{- $needed := false -}}
{{- range $name, $set := (include "slurm.loginsets" . | fromJson) -}}
{{- if not $set.sssdConf -}}{{- $needed = true -}}{{- end -}}
{{- end -}}
{{- range $name, $set := (include "slurm.nodesets" . | fromJson) -}}
{{- if $set.ssh.enabled -}}{{- $needed = true -}}{{- end -}}
{{- end -}}
{{- if $needed -}}true{{- end -}}
{{- end -}}

{{- define "slurm.sssdRef" -}}
{{- $ref := .Values.sssd.secretRef | default dict -}}
name: {{ $ref.name | default (printf "%s-sssd-conf" (include "slurm.fullname" .)) }}
key: {{ $ref.key | default "sssd.conf" }}
{{- end -}}
