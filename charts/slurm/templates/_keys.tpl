{{/*
The keys of the cluster, in both spellings. Nothing here is random: a key that does not exist is made by the operator, once, because
an annotation of the Controller asks for it. As JSON: {slurm: {name, key, create, annotations}, jwt: {..., field}}.
*/}}
{{- define "slurm.keys" -}}
{{- $full := include "slurm.fullname" . -}}
{{- $old := dict "slurm" (hasKey .Values "slurmKeyRef") "jwt" (hasKey .Values "jwtHs256KeyRef") -}}
{{- include "slurm.oneSpelling" (dict "old" .Values.slurmKeyRef "oldName" "slurmKeyRef" "new" .Values.slurmKey "newName" "slurmKey") -}}
{{- include "slurm.oneSpelling" (dict "old" .Values.jwtHs256KeyRef "oldName" "jwtHs256KeyRef" "new" .Values.jwtKey "newName" "jwtKey") -}}
{{- $slurmRef := .Values.slurmKeyRef | default .Values.slurmKey.secretRef | default dict -}}
{{- $slurm := dict
  "name" ($slurmRef.name | default (printf "%s-auth-slurm" $full))
  "key" ($slurmRef.key | default "slurm.key")
  "create" (ternary (not (dig "name" "" (.Values.slurmKeyRef | default dict))) .Values.slurmKey.create $old.slurm)
  "annotations" .Values.slurmKey.annotations
-}}
{{- $jwtRef := .Values.jwtHs256KeyRef | default .Values.jwtKey.secretRef | default dict -}}
{{- $oldName := printf "%s-auth-jwths256" $full -}}
{{- /* What an older release made stays in use: a Controller cannot change its key's name, and the key must not change. */ -}}
{{- $adopted := and (not $old.jwt) (not $jwtRef.name) (lookup "v1" "Secret" (include "slurm.namespace" .) $oldName) -}}
{{- $hs256 := or $old.jwt $adopted -}}
{{- $jwt := dict
  "field" (ternary "jwtHs256KeyRef" "jwtKeyRef" (not (not $hs256)))
  "name" ($jwtRef.name | default (ternary $oldName (printf "%s-auth-jwt" $full) (not (not $hs256))))
  "key" ($jwtRef.key | default (ternary "jwt_hs256.key" "jwt.key" (not (not $hs256))))
  "create" (ternary (not (dig "name" "" (.Values.jwtHs256KeyRef | default dict))) .Values.jwtKey.create $old.jwt)
  "annotations" .Values.jwtKey.annotations
-}}
{{- toJson (dict "slurm" $slurm "jwt" $jwt) -}}
{{- end -}}

{{/* An old spelling beside the new one that says something else. Arguments: old, oldName, new, newName. */}}
{{- define "slurm.oneSpelling" -}}
{{- $ref := .new.secretRef | default dict -}}
{{- if and .old $ref -}}
{{- fail (printf "%s and %s.secretRef are both set: %s is the old spelling, keep %s.secretRef" .oldName .newName .oldName .newName) -}}
{{- end -}}
{{- end -}}

{{/* The references to the keys, in a custom resource. */}}
{{- define "slurm.keyRefs" -}}
{{- $keys := include "slurm.keys" . | fromJson -}}
slurmKeyRef:
  name: {{ $keys.slurm.name }}
  key: {{ $keys.slurm.key }}
{{ $keys.jwt.field }}:
  name: {{ $keys.jwt.name }}
  key: {{ $keys.jwt.key }}
{{- if .Values.jwksKeys.enabled }}
jwksKeyRef:
  name: {{ dig "name" "" (.Values.jwksKeys.configMapRef | default dict) | default (printf "%s-auth-jwks" (include "slurm.fullname" .)) }}
  key: {{ dig "key" "" (.Values.jwksKeys.configMapRef | default dict) | default "jwks.json" }}
{{- end }}
{{- end -}}
