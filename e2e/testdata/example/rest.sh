#!/bin/bash

# 設定變數
NAMESPACE="default"
RESTAPI_SVC="my-cluster-restapi"
TOKEN_SECRET="admin-jwt-secret"

# 取得 REST API 端點
RESTAPI_URL=$(kubectl get svc $RESTAPI_SVC -n $NAMESPACE \
  -o jsonpath='{.spec.clusterIP}'):6820

# 取得 JWT Token
JWT=$(kubectl get secret $TOKEN_SECRET -n $NAMESPACE \
  -o jsonpath='{.data.SLURM_JWT}' | base64 -d)

# 健康檢查
curl -s -H "X-SLURM-USER-TOKEN: $JWT" \
  "http://$RESTAPI_URL/slurm/v0.0.41/ping" | jq .

# 列出所有節點
curl -s -H "X-SLURM-USER-TOKEN: $JWT" \
  "http://$RESTAPI_URL/slurm/v0.0.41/nodes" | jq .

# 列出所有作業
curl -s -H "X-SLURM-USER-TOKEN: $JWT" \
  "http://$RESTAPI_URL/slurm/v0.0.41/jobs" | jq .

# 列出所有分區
curl -s -H "X-SLURM-USER-TOKEN: $JWT" \
  "http://$RESTAPI_URL/slurm/v0.0.41/partitions" | jq .

# 提交作業
curl -s -X POST -H "X-SLURM-USER-TOKEN: $JWT" \
  -H "Content-Type: application/json" \
  "http://$RESTAPI_URL/slurm/v0.0.41/job/submit" \
  -d '{
    "job": {
      "name": "test-job",
      "nodes": "1",
      "tasks": 1,
      "cpus_per_task": 1,
      "time_limit": "00:10:00",
      "current_working_directory": "/tmp",
      "environment": ["PATH=/usr/bin:/bin"],
      "script": "#!/bin/bash\necho Hello World\nsleep 60"
    }
  }' | jq .
