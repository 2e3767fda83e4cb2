{{/* An image: a string, or repository with tag or digest; the chart's registry in front where no host is named. Arguments: root, component. */}}
{{- define "operator.image" -}}
{{- $image := (get .root.Values .component).image -}}
{{- $repository := ternary $image (get (ternary dict $image (kindIs "string" $image)) "repository") (kindIs "string" $image) -}}
{{- if not $repository -}}
{{- fail (printf "%s.image names no repository: write it as repository/name:tag, or set repository and tag" .component) -}}
{{- end -}}
{{- $first := splitList "/" $repository | first -}}
{{- $hasHost := and (contains "/" $repository) (or (contains "." $first) (contains ":" $first) (eq $first "localhost")) -}}
{{- if and .root.Values.registry (not $hasHost) -}}
{{- $repository = printf "%s/%s" (trimSuffix "/" .root.Values.registry) $repository -}}
{{- end -}}
{{- if kindIs "string" $image -}}
{{- $repository -}}
{{- else if $image.digest -}}
{{- printf "%s@%s" $repository $image.digest -}}
{{- else -}}
{{- $tag := $image.tag | default .root.Chart.AppVersion -}}
{{- $tagged := printf "%s:%v" $image.repository $tag -}}
{{- printf "%s:%v%s" $repository $tag (include "operator.releaseDigest" (dict "root" .root "image" $tagged)) -}}
{{- end -}}
{{- end -}}

{{/*
"@" and the digest of an image of this release, where the chart was packaged by `make release` and its registry is used. Empty for every
other image. Arguments: root, image.
*/}}
{{- define "operator.releaseDigest" -}}
{{- $release := .root.Files.Get "release-digests.json" | default "{}" | fromJson -}}
{{- if and $release.registry (eq $release.registry (trimSuffix "/" .root.Values.registry)) -}}
{{- with get $release.digests .image -}}@{{ . }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* The parts of a pod that the operator and the webhook share. Arguments: root, component. */}}
{{- define "operator.podSpec" -}}
{{- $v := get .root.Values .component -}}
serviceAccountName: {{ include "operator.serviceAccount" . }}
enableServiceLinks: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - {{ ternary (dict "name" .) . (kindIs "string" .) | toYaml }}
  {{- end }}
{{- end }}
{{- with .root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- range $field := list "nodeSelector" "affinity" }}
{{- with get $v $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with include "operator.tolerations" . | fromJsonArray }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
{{- if $v.topologySpreadConstraints }}
  {{- toYaml $v.topologySpreadConstraints | nindent 2 }}
{{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "operator.selector" . | nindent 8 }}
    matchLabelKeys: [pod-template-hash]
{{- end }}
securityContext:
  {{- $base := dict "runAsNonRoot" true "seccompProfile" (dict "type" "RuntimeDefault") }}
  {{- mergeOverwrite $base (deepCopy $v.podSecurityContext) | toYaml | nindent 2 }}
{{- end -}}

{{/*
The user's tolerations, and one each for a node that is not ready or unreachable, unless the user's cover that taint. As JSON.
Arguments: root, component.
*/}}
{{- define "operator.tolerations" -}}
{{- $v := get .root.Values .component -}}
{{- $all := $v.tolerations | default list -}}
{{- if not (kindIs "invalid" $v.nodeLossTolerationSeconds) -}}
{{- range $key := list "node.kubernetes.io/not-ready" "node.kubernetes.io/unreachable" -}}
{{- $covered := false -}}
{{- range $v.tolerations -}}
{{- if and (has (.key | default "") (list "" $key)) (has (.effect | default "") (list "" "NoExecute")) -}}{{- $covered = true -}}{{- end -}}
{{- end -}}
{{- if not $covered -}}
{{- $all = append $all (dict "key" $key "operator" "Exists" "effect" "NoExecute" "tolerationSeconds" $v.nodeLossTolerationSeconds) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $all -}}
{{- end -}}

{{- define "operator.container" -}}
{{- $v := get .root.Values .component -}}
image: {{ include "operator.image" . }}
imagePullPolicy: {{ $v.imagePullPolicy | default .root.Values.imagePullPolicy }}
securityContext:
  {{- $base := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) }}
  {{- mergeOverwrite $base (deepCopy $v.securityContext) | toYaml | nindent 2 }}
{{- with $v.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
startupProbe:
  httpGet: {path: /healthz, port: health}
  periodSeconds: 1
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: health}
  periodSeconds: 20
  timeoutSeconds: 5
readinessProbe:
  httpGet: {path: /readyz, port: health}
  periodSeconds: 5
  timeoutSeconds: 5
env:
  - name: POD_NAMESPACE
    valueFrom:
      fieldRef:
        fieldPath: metadata.namespace
  - name: POD_NAME
    valueFrom:
      fieldRef:
        fieldPath: metadata.name
  - name: NODE_NAME
    valueFrom:
      fieldRef:
        fieldPath: spec.nodeName
{{- end -}}
