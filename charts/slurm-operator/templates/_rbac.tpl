{{/*
The roles of a program and who has them. The rules are data that the program's own tests check (rules/). With namespaces given, the
rules that need no cluster-wide right become a Role in each of them. Arguments: root, component.
*/}}
{{- define "operator.rbac" -}}
{{- $root := .root -}}
{{- $v := get .root.Values .component -}}
{{- $name := include "operator.componentName" . -}}
{{- $namespace := include "operator.namespace" .root -}}
{{- $labels := include "operator.labels" . -}}
{{- $subject := include "operator.serviceAccount" . -}}
{{- $namespaces := include "operator.namespaces" . | fromJsonArray -}}
{{- $rules := .root.Files.Get (printf "rules/%s.yaml" .component) | fromYaml -}}
{{- $cluster := $rules.cluster -}}
{{- if not $namespaces -}}{{- $cluster = concat $rules.cluster $rules.namespaced -}}{{- end -}}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $subject }}
  namespace: {{ $namespace }}
  labels:
    {{- $labels | nindent 4 }}
{{- if $cluster }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ $namespace }}-{{ $name }}
  labels:
    {{- $labels | nindent 4 }}
rules:
  {{- toYaml $cluster | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ $namespace }}-{{ $name }}
  labels:
    {{- $labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ $namespace }}-{{ $name }}
subjects:
  - kind: ServiceAccount
    name: {{ $subject }}
    namespace: {{ $namespace }}
{{- end }}
{{- $roles := list (dict "namespace" $namespace "suffix" "-own" "rules" $rules.own) -}}
{{- range $namespaces -}}
{{- $roles = append $roles (dict "namespace" . "suffix" "" "rules" $rules.namespaced) -}}
{{- end }}
{{- range $role := $roles }}
{{- if $role.rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ $name }}{{ $role.suffix }}
  namespace: {{ $role.namespace }}
  labels:
    {{- $labels | nindent 4 }}
rules:
  {{- toYaml $role.rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $name }}{{ $role.suffix }}
  namespace: {{ $role.namespace }}
  labels:
    {{- $labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ $name }}{{ $role.suffix }}
subjects:
  - kind: ServiceAccount
    name: {{ $subject }}
    namespace: {{ $namespace }}
{{- end }}
{{- end }}
{{- end -}}
