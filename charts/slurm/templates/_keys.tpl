{{/*
The keys of the cluster, from the new and the deprecated values. Nothing here is random: the operator creates a missing key once, because
an annotation of the Controller requests it. As JSON: {slurm: {name, key, create, annotations}, jwt: {..., field}}.
*/}}
{{- define "slurm.keys" -}}
{{- $full := include "slurm.fullname" . -}}
{{- $old := dict "slurm" (hasKey .Values "slurmKeyRef") "jwt" (hasKey .Values "jwtHs256KeyRef") -}}
{{- include "slurm.oneSpelling" (dict "given" $old.slurm "old" .Values.slurmKeyRef "oldName" "slurmKeyRef" "new" .Values.slurmKey "newName" "slurmKey") -}}
{{- include "slurm.oneSpelling" (dict "given" $old.jwt "old" .Values.jwtHs256KeyRef "oldName" "jwtHs256KeyRef" "new" .Values.jwtKey "newName" "jwtKey") -}}
{{- $slurmRef := .Values.slurmKeyRef | default .Values.slurmKey.secretRef | default dict -}}
{{- $slurm := dict
  "name" ($slurmRef.name | default (printf "%s-auth-slurm" $full))
  "key" ($slurmRef.key | default "slurm.key")
  "create" (ternary (not (dig "name" "" (.Values.slurmKeyRef | default dict))) .Values.slurmKey.create $old.slurm)
  "annotations" .Values.slurmKey.annotations
-}}
{{- $jwtRef := .Values.jwtHs256KeyRef | default .Values.jwtKey.secretRef | default dict -}}
{{- $oldName := printf "%s-auth-jwths256" $full -}}
{{- /* A key in use, or created by an older release, keeps its name: the reference in a Controller is immutable. */ -}}
{{- $namespace := include "slurm.namespace" . -}}
{{- $live := dig "spec" dict (lookup "slinky.slurm.net/v1beta1" "Controller" $namespace $full | default dict) -}}
{{- $hs256 := $old.jwt -}}
{{- if and (not $old.jwt) (not $jwtRef.name) -}}
{{- if $live.jwtKeyRef -}}
{{- $jwtRef = $live.jwtKeyRef -}}
{{- else if or $live.jwtHs256KeyRef (lookup "v1" "Secret" $namespace $oldName) -}}
{{- $hs256 = true -}}
{{- $jwtRef = $live.jwtHs256KeyRef | default dict -}}
{{- end -}}
{{- end -}}
{{- $jwt := dict
  "field" (ternary "jwtHs256KeyRef" "jwtKeyRef" $hs256)
  "name" ($jwtRef.name | default (ternary $oldName (printf "%s-auth-jwt" $full) $hs256))
  "key" ($jwtRef.key | default (ternary "jwt_hs256.key" "jwt.key" $hs256))
  "create" (ternary (not (dig "name" "" (.Values.jwtHs256KeyRef | default dict))) .Values.jwtKey.create $old.jwt)
  "annotations" .Values.jwtKey.annotations
-}}
{{- toJson (dict "slurm" $slurm "jwt" $jwt) -}}
{{- end -}}

{{/*
Fails before helm deletes a key that is in use: upstream's chart created the keys, so they belong to its release, and this chart contains none.
Jobs and workers of a cluster with new keys are lost.
*/}}
{{- define "slurm.keepKeys" -}}
{{- $keys := include "slurm.keys" . | fromJson -}}
{{- $namespace := include "slurm.namespace" . -}}
{{- $contained := include "slurm.extraSecrets" . | fromJsonArray -}}
{{- range list $keys.slurm.name $keys.jwt.name | uniq -}}
{{- $annotations := dig "metadata" "annotations" dict (lookup "v1" "Secret" $namespace . | default dict) -}}
{{- $isOurs := and (eq (get $annotations "meta.helm.sh/release-name") $.Release.Name) (eq (get $annotations "meta.helm.sh/release-namespace") $.Release.Namespace) -}}
{{- if and $isOurs (ne (get $annotations "helm.sh/resource-policy") "keep") (not (has . $contained)) -}}
{{- fail (printf "helm would delete the key in Secret %s, because the previous chart of this release created it and this one does not. Keep it first: kubectl --namespace %s annotate secret %s helm.sh/resource-policy=keep" . $namespace .) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Names of the Secrets in extraObjects, as JSON. An object that only mentions a key, such as a Token, does not keep it. */}}
{{- define "slurm.extraSecrets" -}}
{{- $names := list -}}
{{- range .Values.extraObjects -}}
{{- $text := tpl (ternary . (toYaml .) (kindIs "string" .)) $ -}}
{{- range regexSplit "(?m)^---" $text -1 -}}
{{- $object := fromYaml . -}}
{{- if eq (toString (get $object "kind")) "Secret" -}}{{- $names = append $names (dig "metadata" "name" "" $object) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $names -}}
{{- end -}}

{{/* Fails if a deprecated value contradicts the new one. Arguments: given, old, oldName, new, newName. */}}
{{- define "slurm.oneSpelling" -}}
{{- $ref := .new.secretRef | default dict -}}
{{- if and .old $ref -}}
{{- fail (printf "%s and %s.secretRef are both set: %s is deprecated, keep %s.secretRef" .oldName .newName .oldName .newName) -}}
{{- end -}}
{{- if and .given (not .old) (eq .new.create false) -}}
{{- fail (printf "%s is {}, which requests a new key, and %s.create is false: remove one of them" .oldName .newName) -}}
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
