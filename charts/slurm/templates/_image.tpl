{{/*
An image: a string, or repository with tag or digest. The chart's registry is prepended to a repository without a host.
Arguments: root, image, path (for messages). Empty when there is no image.
*/}}
{{- define "slurm.image" -}}
{{- $image := .image -}}
{{- if and (or (kindIs "string" $image) $image) (not (ternary $image (dig "repository" "" (ternary dict $image (kindIs "string" $image))) (kindIs "string" $image))) -}}
{{- fail (printf "%s names no repository: write it as repository/name:tag, or set repository and tag" .path) -}}
{{- else if kindIs "string" $image -}}
{{- include "slurm.registry" (dict "root" .root "repository" $image) -}}
{{- else if and $image $image.repository -}}
{{- $repository := include "slurm.registry" (dict "root" .root "repository" $image.repository) -}}
{{- if $image.digest -}}
{{- if not (regexMatch "^[a-z0-9]+:[0-9a-f]{32,}$" $image.digest) -}}
{{- fail (printf "%s.digest is %q: write it as sha256: and 64 hexadecimal digits" .path $image.digest) -}}
{{- end -}}
{{- printf "%s@%s" $repository $image.digest -}}
{{- else if $image.tag -}}
{{- $tagged := printf "%s:%v" $image.repository $image.tag -}}
{{- printf "%s:%v%s" $repository $image.tag (include "slurm.releaseDigest" (dict "root" .root "image" $tagged)) -}}
{{- else -}}
{{- fail (printf "%s has a repository and neither tag nor digest: set one of them" .path) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
"@" and the digest of an image of this release, where the chart was packaged by `make release` and its registry is used. Empty for every
other image, so that a repository, tag or registry of your own is used as it is. Arguments: root, image.
*/}}
{{- define "slurm.releaseDigest" -}}
{{- $release := .root.Files.Get "release-digests.json" | default "{}" | fromJson -}}
{{- if and $release.registry (eq $release.registry (trimSuffix "/" .root.Values.registry)) -}}
{{- with get $release.digests .image -}}@{{ . }}{{- end -}}
{{- end -}}
{{- end -}}

{{- define "slurm.registry" -}}
{{- $first := splitList "/" .repository | first -}}
{{- $hasHost := and (contains "/" .repository) (or (contains "." $first) (contains ":" $first) (eq $first "localhost")) -}}
{{- if and .root.Values.registry (not $hasHost) -}}
{{- printf "%s/%s" (trimSuffix "/" .root.Values.registry) .repository -}}
{{- else -}}
{{- .repository -}}
{{- end -}}
{{- end -}}

{{/* Whether a field of a container or pod is handed on: false and 0 are values, empty text, lists and maps are not. */}}
{{- define "slurm.saysSomething" -}}
{{- if or . (kindIs "bool" .) (kindIs "float64" .) (kindIs "int64" .) (kindIs "int" .) -}}true{{- end -}}
{{- end -}}

{{/*
A container of a custom resource from its values: the image by the rules above, pull policy, and every other field that is set.
Arguments: root, container, path. Empty if nothing is set.
*/}}
{{- define "slurm.container" -}}
{{- $container := dict -}}
{{- $given := ternary .container dict (kindIs "map" .container) -}}
{{- range $key, $value := omit $given "image" -}}
{{- if include "slurm.saysSomething" $value -}}{{- $_ := set $container $key $value -}}{{- end -}}
{{- end -}}
{{- $image := include "slurm.image" (dict "root" .root "image" (ternary dict (get $given "image") (kindIs "invalid" (get $given "image"))) "path" (printf "%s.image" .path)) -}}
{{- if $image -}}
{{- $_ := set $container "image" $image -}}
{{- if not (hasKey $container "imagePullPolicy") -}}{{- $_ := set $container "imagePullPolicy" .root.Values.imagePullPolicy -}}{{- end -}}
{{- end -}}
{{- if $container -}}{{- toYaml $container -}}{{- end -}}
{{- end -}}

{{/*
template of a custom resource: metadata and podSpec, with the chart's pull secrets and priority class.
Arguments: root, values (metadata, podSpec), hostname (optional). Empty if nothing is set.
*/}}
{{- define "slurm.template" -}}
{{- $spec := dict -}}
{{- range $key, $value := .values.podSpec -}}
{{- if include "slurm.saysSomething" $value -}}{{- $_ := set $spec $key $value -}}{{- end -}}
{{- end -}}
{{- if .hostname -}}{{- $_ := set $spec "hostname" .hostname -}}{{- end -}}
{{- $secrets := list -}}
{{- range concat (.root.Values.imagePullSecrets | default list) ($spec.imagePullSecrets | default list) -}}
{{- $secrets = append $secrets (ternary (dict "name" .) . (kindIs "string" .)) -}}
{{- end -}}
{{- with $secrets -}}{{- $_ := set $spec "imagePullSecrets" (uniq .) -}}{{- end -}}
{{- $class := ternary .root.Values.priorityClass.name (.root.Values.priorityClassName | default "") .root.Values.priorityClass.enabled -}}
{{- if and $class (not (hasKey $spec "priorityClassName")) -}}
{{- $_ := set $spec "priorityClassName" $class -}}
{{- end -}}
{{- $template := dict -}}
{{- if .values.metadata -}}{{- $_ := set $template "metadata" .values.metadata -}}{{- end -}}
{{- if $spec -}}{{- $_ := set $template "spec" $spec -}}{{- end -}}
{{- if $template -}}{{- toYaml $template -}}{{- end -}}
{{- end -}}

{{/* service of a custom resource. A type of "None", which hides the service in NOTES elsewhere, is left out. */}}
{{- define "slurm.service" -}}
{{- $service := dict -}}
{{- range $key, $value := . -}}
{{- if and (eq $key "spec") $value -}}
{{- $spec := $value -}}
{{- if eq (toString (dig "type" "" $value)) "None" -}}{{- $spec = omit $value "type" -}}{{- end -}}
{{- if $spec -}}{{- $_ := set $service "spec" $spec -}}{{- end -}}
{{- else if $value -}}
{{- $_ := set $service $key $value -}}
{{- end -}}
{{- end -}}
{{- if $service -}}{{- toYaml $service -}}{{- end -}}
{{- end -}}
