{{/*
The newest REST API version that slurmrestd of the given image serves, by the release in its tag; empty for a tag without a release. Argument: root.
*/}}
{{- define "slurm.restVersion" -}}
{{- $image := .Values.restapi.slurmrestd.image -}}
{{- $tag := ternary (regexFind "[^:/@]*$" (toString $image)) (toString (dig "tag" "" (ternary dict $image (kindIs "string" $image)))) (kindIs "string" $image) -}}
{{- $release := regexFind "^[0-9]{2}[.][0-9]{2}" $tag -}}
{{- get (dict "26.05" "v0.0.45" "25.11" "v0.0.44" "25.05" "v0.0.43" "24.11" "v0.0.42" "24.05" "v0.0.41") $release -}}
{{- end -}}
