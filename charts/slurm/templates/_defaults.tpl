{{- /* Generated from values.yaml by `make generate`. Do not edit. */ -}}

{{/* A null block, list or boolean means its default. To be included first in every template. Argument: root. */}}
{{- define "slurm.fillDefaults" -}}
{{- include "slurm.fill" (dict "values" .Values "defaults" (include "slurm.defaults" . | fromJson)) -}}
{{- end -}}

{{/* Arguments: values, which is changed, and defaults. */}}
{{- define "slurm.fill" -}}
{{- $values := .values -}}
{{- range $key, $default := .defaults -}}
{{- $given := get $values $key -}}
{{- if or (not (hasKey $values $key)) (kindIs "invalid" $given) -}}
{{- if has (kindOf $default) (list "map" "slice" "bool") -}}{{- $_ := set $values $key $default -}}{{- end -}}
{{- else if and (kindIs "map" $given) (kindIs "map" $default) (not (has $key (list "podSpec" "podSecurityContext" "securityContext" "resources"))) -}}
{{- include "slurm.fill" (dict "values" $given "defaults" $default) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "slurm.defaults" -}}
{
  "nameOverride": null,
  "fullnameOverride": null,
  "namespaceOverride": null,
  "registry": "",
  "imagePullPolicy": "IfNotPresent",
  "imagePullSecrets": [],
  "asciiArt": true,
  "priorityClass": {
    "enabled": false,
    "create": false,
    "name": "slurm-system-critical",
    "description": null,
    "value": 1000000000,
    "preemptionPolicy": "PreemptLowerPriority"
  },
  "slurmKey": {
    "create": true,
    "annotations": {},
    "secretRef": {}
  },
  "jwtKey": {
    "create": true,
    "annotations": {},
    "secretRef": {}
  },
  "jwksKeys": {
    "enabled": false,
    "configMapRef": {}
  },
  "clusterName": null,
  "configFiles": {},
  "prologSlurmctldScripts": {},
  "epilogSlurmctldScripts": {},
  "prologScripts": {},
  "epilogScripts": {},
  "prologSlurmctldScriptRefs": [],
  "epilogSlurmctldScriptRefs": [],
  "prologScriptRefs": [],
  "epilogScriptRefs": [],
  "controller": {
    "external": false,
    "externalConfig": {
      "host": "slurmctld.example.com",
      "port": null
    },
    "slurmctld": {
      "image": {
        "repository": "slurm-operator/slurmctld",
        "tag": "26.05",
        "digest": null
      },
      "args": [],
      "resources": {}
    },
    "maxNodeCount": null,
    "maxAwake": null,
    "inplaceReconfigure": false,
    "reconfigure": {
      "image": {},
      "resources": {}
    },
    "logfile": {
      "image": {},
      "resources": {}
    },
    "ha": {
      "enabled": false,
      "backups": 1
    },
    "persistence": {
      "enabled": true,
      "existingClaim": "",
      "fixOwnership": false,
      "storageClassName": null,
      "accessModes": [
        "ReadWriteOnce"
      ],
      "resources": {
        "requests": {
          "storage": "4Gi"
        }
      }
    },
    "extraConf": null,
    "extraConfMap": {},
    "metadata": {},
    "podSpec": {
      "resources": {},
      "initContainers": [],
      "nodeSelector": {
        "kubernetes.io/os": "linux"
      },
      "affinity": {},
      "tolerations": []
    },
    "service": {
      "metadata": {},
      "spec": {}
    },
    "metrics": {
      "enabled": false,
      "serviceMonitor": {
        "enabled": false,
        "annotations": {},
        "labels": {},
        "interval": "30s",
        "scrapeTimeout": "25s",
        "endpoints": [
          {
            "path": "/metrics/jobs"
          },
          {
            "path": "/metrics/nodes"
          },
          {
            "path": "/metrics/partitions"
          },
          {
            "path": "/metrics/scheduler"
          }
        ]
      }
    }
  },
  "restapi": {
    "replicas": 1,
    "pdb": {
      "enabled": false,
      "minAvailable": 1,
      "maxUnavailable": null
    },
    "slurmrestd": {
      "image": {
        "repository": "slurm-operator/slurmrestd",
        "tag": "26.05",
        "digest": null
      },
      "env": [],
      "args": [],
      "resources": {}
    },
    "metadata": {},
    "podSpec": {
      "resources": {},
      "initContainers": [],
      "nodeSelector": {
        "kubernetes.io/os": "linux"
      },
      "affinity": {},
      "tolerations": []
    },
    "service": {
      "metadata": {},
      "spec": {}
    },
    "networkPolicy": {
      "enabled": false,
      "allowedNamespaces": {},
      "from": [],
      "operatorNamespace": "slinky"
    },
    "ingress": {
      "enabled": false,
      "className": null,
      "annotations": {},
      "host": "",
      "path": "/",
      "tlsSecretName": ""
    }
  },
  "accounting": {
    "enabled": false,
    "external": false,
    "externalConfig": {
      "host": "slurmdbd.example.com",
      "port": null
    },
    "slurmdbd": {
      "image": {
        "repository": "slurm-operator/slurmdbd",
        "tag": "26.05",
        "digest": null
      },
      "args": [],
      "resources": {}
    },
    "storageConfig": {
      "host": "mariadb",
      "port": 3306,
      "database": "slurm_acct_db",
      "username": "slurm",
      "passwordKeyRef": {
        "name": "mariadb-password",
        "key": "password"
      }
    },
    "extraConf": null,
    "extraConfMap": {},
    "metadata": {},
    "podSpec": {
      "resources": {},
      "initContainers": [],
      "nodeSelector": {
        "kubernetes.io/os": "linux"
      },
      "affinity": {},
      "tolerations": []
    },
    "service": {
      "metadata": {},
      "spec": {}
    }
  },
  "sssd": {
    "secretRef": {},
    "conf": "[sssd]\nservices = nss,pam\ndomains = DEFAULT\n\n[nss]\nfilter_groups = root,slurm\nfilter_users = root,slurm\n\n[pam]\n\n[domain/DEFAULT]\nid_provider = proxy\nproxy_lib_name = files\nauth_provider = proxy\nproxy_pam_target = sssd-shadowutils\n"
  },
  "loginsetDefaults": {
    "enabled": true,
    "replicas": 1,
    "strategy": {},
    "login": {
      "image": {
        "repository": "slurm-operator/login",
        "tag": "26.05",
        "digest": null
      },
      "env": [],
      "securityContext": {
        "privileged": false
      },
      "resources": {},
      "volumeMounts": []
    },
    "initconf": {
      "image": {},
      "resources": {}
    },
    "rootSshAuthorizedKeys": null,
    "extraSshdConfig": null,
    "metadata": {},
    "podSpec": {
      "resources": {},
      "initContainers": [],
      "nodeSelector": {
        "kubernetes.io/os": "linux"
      },
      "affinity": {},
      "tolerations": [],
      "volumes": []
    },
    "service": {
      "metadata": {},
      "spec": {
        "type": "LoadBalancer"
      }
    }
  },
  "loginsets": {},
  "nodesetDefaults": {
    "enabled": true,
    "scalingMode": "StatefulSet",
    "replicas": 1,
    "pinToNode": false,
    "workloadDisruptionProtection": true,
    "pruneSlurmNodeRecords": "Never",
    "ordinalPadding": 0,
    "oversubscribeNode": false,
    "deletionPolicy": "Drain",
    "minReadySeconds": null,
    "revisionHistoryLimit": null,
    "autoscale": null,
    "volumeClaimTemplates": [],
    "persistentVolumeClaimRetentionPolicy": {},
    "slurmd": {
      "image": {
        "repository": "slurm-operator/slurmd",
        "tag": "26.05",
        "digest": null
      },
      "args": [],
      "env": [],
      "resources": {},
      "volumeMounts": []
    },
    "logfile": {
      "image": {},
      "resources": {}
    },
    "extraConf": null,
    "extraConfMap": {},
    "partition": {
      "enabled": false,
      "config": null,
      "configMap": {}
    },
    "ssh": {
      "enabled": false,
      "extraSshdConfig": null
    },
    "updateStrategy": {
      "type": "RollingUpdate",
      "rollingUpdate": {
        "maxUnavailable": "25%"
      },
      "scheduledUpdate": {}
    },
    "metadata": {},
    "podSpec": {
      "resources": {},
      "initContainers": [],
      "nodeSelector": {
        "kubernetes.io/os": "linux"
      },
      "affinity": {},
      "tolerations": [],
      "volumes": []
    }
  },
  "nodesets": {},
  "partitions": {
    "all": {
      "enabled": false,
      "nodesets": [
        "ALL"
      ],
      "config": null,
      "configMap": {
        "Default": "YES",
        "MaxTime": "UNLIMITED"
      }
    }
  },
  "qos": {},
  "accounts": {},
  "vendor": {
    "nvidia": {
      "dcgm": {
        "enabled": false,
        "jobMappingDir": "/var/lib/dcgm-exporter/job-mapping",
        "scriptPriority": "90"
      }
    },
    "google": {
      "a3mega": [],
      "a3ultra": []
    }
  },
  "extraObjects": []
}
{{- end -}}
