{{- /* Generated from values.yaml by `make generate`. Do not edit. */ -}}

{{/* A null block, list or boolean means its default. To be included first in every template. Argument: root. */}}
{{- define "operator.fillDefaults" -}}
{{- include "operator.fill" (dict "values" .Values "defaults" (include "operator.defaults" . | fromJson)) -}}
{{- end -}}

{{/* Arguments: values, which is changed, and defaults. */}}
{{- define "operator.fill" -}}
{{- $values := .values -}}
{{- range $key, $default := .defaults -}}
{{- $given := get $values $key -}}
{{- if or (not (hasKey $values $key)) (kindIs "invalid" $given) -}}
{{- if has (kindOf $default) (list "map" "slice" "bool") -}}{{- $_ := set $values $key $default -}}{{- end -}}
{{- else if and (kindIs "map" $given) (kindIs "map" $default) (not (has $key (list "podSpec" "podSecurityContext" "securityContext" "resources"))) -}}
{{- include "operator.fill" (dict "values" $given "defaults" $default) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "operator.defaults" -}}
{
  "nameOverride": "",
  "fullnameOverride": "",
  "namespaceOverride": "",
  "registry": "",
  "imagePullSecrets": [],
  "imagePullPolicy": "IfNotPresent",
  "priorityClassName": "",
  "clusterDomain": "",
  "crds": {
    "enabled": false
  },
  "operator": {
    "enabled": true,
    "replicas": 2,
    "imagePullPolicy": null,
    "image": {
      "repository": "slurm-operator/operator",
      "tag": null,
      "digest": null
    },
    "serviceAccount": {
      "create": true,
      "name": ""
    },
    "nodeSelector": {},
    "affinity": {},
    "tolerations": [],
    "nodeLossTolerationSeconds": 30,
    "topologySpreadConstraints": [],
    "podSecurityContext": {},
    "securityContext": {},
    "resources": {
      "requests": {
        "cpu": "50m",
        "memory": "128Mi"
      }
    },
    "pdb": {
      "enabled": true,
      "minAvailable": 1,
      "maxUnavailable": null
    },
    "accountingWorkers": 4,
    "controllerWorkers": 4,
    "loginsetWorkers": 4,
    "nodesetWorkers": 4,
    "restapiWorkers": 4,
    "tokenWorkers": 4,
    "slurmclientWorkers": 2,
    "slurmRequestTimeout": null,
    "slurmBackoffInitial": null,
    "slurmBackoffMax": null,
    "slurmPollPeriod": null,
    "logLevel": "info",
    "healthPort": 8081,
    "metricsPort": 8080,
    "metricsSecure": false,
    "tokenExchange": {
      "enabled": false,
      "port": 9444,
      "userPrefix": "",
      "userSuffix": "",
      "audiences": []
    },
    "profile": false,
    "profileAddr": "localhost:6060",
    "leaderElection": true,
    "namespaces": ""
  },
  "webhook": {
    "enabled": true,
    "podsBinding": false,
    "replicas": 2,
    "imagePullPolicy": null,
    "image": {
      "repository": "slurm-operator/operator",
      "tag": null,
      "digest": null
    },
    "serviceAccount": {
      "create": true,
      "name": ""
    },
    "timeoutSeconds": 2,
    "nodeSelector": {},
    "affinity": {},
    "tolerations": [],
    "nodeLossTolerationSeconds": 30,
    "topologySpreadConstraints": [],
    "podSecurityContext": {},
    "securityContext": {},
    "resources": {
      "requests": {
        "cpu": "50m",
        "memory": "96Mi"
      }
    },
    "pdb": {
      "enabled": true,
      "minAvailable": 1,
      "maxUnavailable": null
    },
    "validating": {
      "failurePolicy": "Ignore",
      "matchConditions": [],
      "matchPolicy": "Equivalent",
      "namespaceSelector": {}
    },
    "mutating": {
      "failurePolicy": "Ignore",
      "matchConditions": [],
      "matchPolicy": "Equivalent"
    },
    "logLevel": "info",
    "serverPort": 9443,
    "healthPort": 8081,
    "metricsPort": 0,
    "metricsSecure": false,
    "leaderElection": true,
    "namespaces": ""
  },
  "dashboard": {
    "enabled": false,
    "replicas": 1,
    "imagePullPolicy": null,
    "image": {
      "repository": "slurm-operator/operator",
      "tag": null,
      "digest": null
    },
    "serviceAccount": {
      "create": true,
      "name": ""
    },
    "nodeSelector": {},
    "affinity": {},
    "tolerations": [],
    "nodeLossTolerationSeconds": 30,
    "topologySpreadConstraints": [],
    "podSecurityContext": {},
    "securityContext": {},
    "resources": {
      "requests": {
        "cpu": "50m",
        "memory": "128Mi"
      }
    },
    "pdb": {
      "enabled": false,
      "minAvailable": 1,
      "maxUnavailable": null
    },
    "logLevel": "info",
    "healthPort": 8081,
    "metricsPort": 0,
    "metricsSecure": false,
    "namespaces": "",
    "port": 8090,
    "hosts": [],
    "secureCookies": true,
    "proxy": {
      "secretName": "",
      "secretKey": "secret",
      "secretHeader": "x-proxy-secret",
      "userHeader": "x-forwarded-user",
      "groupsHeader": "x-forwarded-groups",
      "actAsUsers": false
    },
    "networkPolicy": {
      "enabled": false,
      "from": []
    }
  },
  "certManager": {
    "enabled": false,
    "secretName": "",
    "duration": "43800h0m0s",
    "renewBefore": "8760h0m0s"
  },
  "propagatedNodeConditions": [],
  "extraObjects": []
}
{{- end -}}
