{{/*
The roles of a program and who has them. The rules are data that the programs' own tests check (rules/). With namespaces given,
whatever needs no cluster-wide right becomes a Role in each of them. Arguments: root, component.
*/}}
{{- define "operator.rules" -}}
{{- $rules := list -}}
{{- range .files -}}
{{- range $.root.Files.Get (printf "rules/%s.yaml" .) | required (printf "the chart lacks rules/%s.yaml" .) | fromYamlArray -}}
{{- if has "namespaces" .resources -}}{{- $_ := set . "resourceNames" (include "operator.namespaces" $ | fromJsonArray) -}}
{{- else if and .resourceNames (not (has "slurm-operator-token-exchange" .resourceNames)) -}}{{- $_ := set . "resourceNames" (list (ternary $.secret $.configuration (has "secrets" .resources))) -}}{{- end -}}
{{- $rules = append $rules . -}}
{{- end -}}
{{- end -}}
{{- toJson $rules -}}
{{- end -}}

{{/* Which files of rules hold where, as JSON: {cluster, namespaced, own}. Arguments: root, component. */}}
{{- define "operator.ruleFiles" -}}
{{- $v := get .root.Values .component -}}
{{- $files := dict "cluster" (list "manager-cluster") "namespaced" (list "manager-namespace") "own" list -}}
{{- if eq .component "webhook" -}}
{{- $files = dict "cluster" (list "webhook-cluster") "namespaced" (list "webhook-namespace") "own" list -}}
{{- if $v.podsBinding -}}
{{- $files = dict "cluster" (list "webhook-cluster" "binding-cluster") "namespaced" (list "webhook-namespace" "binding-namespace") "own" list -}}
{{- end -}}
{{- if not .root.Values.certManager.enabled -}}
{{- $_ := set $files "cluster" (append $files.cluster "certificates-cluster") -}}
{{- $_ := set $files "own" (append $files.own "certificates-namespace") -}}
{{- end -}}
{{- end -}}
{{- if eq .component "dashboard" -}}
{{- $files = dict "cluster" (list "reviews" "dashboard-cluster") "namespaced" (list "dashboard-namespace") "own" (list "dashboard-exchange") -}}
{{- if $v.proxy.actAsUsers -}}{{- $_ := set $files "namespaced" (append $files.namespaced "dashboard-proxy") -}}{{- end -}}
{{- end -}}
{{- $exchanges := and (eq .component "operator") $v.tokenExchange.enabled -}}
{{- if and (ne .component "dashboard") (or $v.metricsSecure $exchanges) -}}{{- $_ := set $files "cluster" (append $files.cluster "reviews") -}}{{- end -}}
{{- if $exchanges -}}{{- $_ := set $files "own" (append $files.own "exchange-namespace") -}}{{- end -}}
{{- if and $v.leaderElection (eq .component "operator") -}}{{- $_ := set $files "own" (append $files.own "lease") -}}{{- end -}}
{{- $namespaces := include "operator.namespaces" . | fromJsonArray -}}
{{- if or $namespaces (eq .component "webhook") -}}{{- $_ := set $files "own" (append $files.own "replicas") -}}{{- end -}}
{{- if not $namespaces -}}
{{- $_ := set $files "cluster" (concat $files.cluster $files.namespaced) -}}
{{- else if eq .component "operator" -}}
{{- $_ := set $files "cluster" (append $files.cluster "ending-namespaces") -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

{{/* A role and its binding. Arguments: root, component, name, namespace (empty: in the whole cluster), files. */}}
{{- define "operator.grant" -}}
{{- $kind := ternary "Role" "ClusterRole" (not (not .namespace)) -}}
{{- $secret := include "operator.certificateSecret" .root -}}
{{- $configuration := include "operator.componentName" . -}}
{{- $rules := include "operator.rules" (dict "root" .root "component" .component "files" .files "secret" $secret "configuration" $configuration) | fromJsonArray -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "operator.labels" . | nindent 4 }}
rules:
  {{- toYaml $rules | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
metadata:
  name: {{ .name }}
  {{- with .namespace }}
  namespace: {{ . }}
  {{- end }}
  labels:
    {{- include "operator.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ .name }}
subjects:
  - kind: ServiceAccount
    name: {{ include "operator.serviceAccount" . }}
    namespace: {{ include "operator.namespace" .root }}
{{- end -}}

{{/*
The right to remove finalizers from NodeSets outlives the roles in the namespaces, so it is of the whole cluster: this policy limits it
to the same namespaces. Arguments: root, component.
*/}}
{{- define "operator.onlyItsNamespaces" -}}
{{- $namespace := include "operator.namespace" .root -}}
{{- $name := printf "%s-%s-namespaces.slinky.slurm.net" $namespace (include "operator.componentName" .) -}}
{{- $watched := include "operator.namespaces" . | fromJsonArray -}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ $name }}
  labels:
    {{- include "operator.labels" . | nindent 4 }}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - apiGroups: [slinky.slurm.net]
        apiVersions: ["*"]
        operations: [UPDATE]
        resources: [nodesets]
  matchConditions:
    - name: the-operator
      expression: request.userInfo.username == "system:serviceaccount:{{ $namespace }}:{{ include "operator.serviceAccount" . }}"
  validations:
    - expression: request.namespace in {{ toJson $watched }}
      message: "this operator changes NodeSets in the namespaces of operator.namespaces only: {{ join ", " $watched }}"
      reason: Forbidden
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ $name }}
  labels:
    {{- include "operator.labels" . | nindent 4 }}
spec:
  policyName: {{ $name }}
  validationActions: [Deny]
{{- end -}}

{{- define "operator.rbac" -}}
{{- $me := . -}}
{{- $name := include "operator.componentName" . -}}
{{- $namespace := include "operator.namespace" .root -}}
{{- $files := include "operator.ruleFiles" . | fromJson -}}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "operator.serviceAccount" . }}
  namespace: {{ $namespace }}
  labels:
    {{- include "operator.labels" . | nindent 4 }}
{{- if $files.cluster }}
{{ include "operator.grant" (merge (dict "name" (printf "%s-%s" $namespace $name) "namespace" "" "files" $files.cluster) $me) }}
{{- end }}
{{- if $files.own }}
{{ include "operator.grant" (merge (dict "name" (printf "%s-own" $name) "namespace" $namespace "files" $files.own) $me) }}
{{- end }}
{{- if has "ending-namespaces" $files.cluster }}
{{ include "operator.onlyItsNamespaces" . }}
{{- end }}
{{- range include "operator.namespaces" . | fromJsonArray }}
{{ include "operator.grant" (merge (dict "name" $name "namespace" . "files" $files.namespaced) $me) }}
{{- end }}
{{- end -}}
