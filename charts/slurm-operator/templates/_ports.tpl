{{/* Ports and flags that both programs have. Arguments: root, component. */}}
{{- define "operator.ports" -}}
{{- $v := get .root.Values .component -}}
- name: health
  containerPort: {{ int $v.healthPort }}
{{- if int $v.metricsPort }}
- name: metrics
  containerPort: {{ int $v.metricsPort }}
{{- end }}
{{- end -}}

{{- define "operator.flags" -}}
{{- $v := get .root.Values .component -}}
{{- if and $v.metricsSecure (not (int $v.metricsPort)) -}}
{{- fail (printf "%s.metricsSecure is true and %s.metricsPort is 0: secure metrics need a port" .component .component) -}}
{{- end -}}
{{- if and (eq .component "operator") (not $v.leaderElection) (gt (int $v.replicas) 1) -}}
{{- fail "operator.leaderElection is false and operator.replicas is more than 1: two operators would act at the same time; set operator.replicas to 1, or operator.leaderElection to true" -}}
{{- end -}}
- --log-level={{ $v.logLevel }}
- --health-addr=:{{ int $v.healthPort }}
- --metrics-addr={{ ternary (printf ":%d" (int $v.metricsPort)) "0" (not (not (int $v.metricsPort))) }}
{{- if $v.metricsSecure }}
- --metrics-secure
{{- end }}
{{- if and $v.leaderElection (eq .component "operator") }}
- --leader-elect
- --leader-elect-namespace={{ include "operator.namespace" .root }}
{{- /* Two releases in one namespace must not share a lease: one of them would never act. */}}
{{- if ne (include "operator.fullname" .root) "slurm-operator" }}
- --leader-elect-name={{ include "operator.fullname" .root }}
{{- end }}
{{- end }}
{{- with include "operator.namespaces" . | fromJsonArray }}
- --namespaces={{ join "," . }}
{{- end }}
{{- end -}}

{{/* A disruption budget, where there is more than one pod. Arguments: root, component. */}}
{{- define "operator.budget" -}}
{{- $v := get .root.Values .component -}}
{{- if and $v.enabled $v.pdb.enabled (gt (int $v.replicas) 1) }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "operator.componentName" . }}
  namespace: {{ include "operator.namespace" .root }}
  labels:
    {{- include "operator.labels" . | nindent 4 }}
spec:
  {{- if not (kindIs "invalid" $v.pdb.maxUnavailable) }}
  maxUnavailable: {{ $v.pdb.maxUnavailable }}
  {{- else }}
  minAvailable: {{ ternary 1 $v.pdb.minAvailable (kindIs "invalid" $v.pdb.minAvailable) }}
  {{- end }}
  # A replica that is not ready may always be evicted.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "operator.selector" . | nindent 6 }}
{{- end }}
{{- end -}}
