#!/usr/bin/env python3
"""
Slurm REST API Python 客戶端範例
"""

import requests
import subprocess
import base64
import json
from typing import Optional, Dict, Any

class SlurmClient:
    """Slurm REST API 客戶端"""

    def __init__(
        self,
        base_url: str,
        token: Optional[str] = None,
        namespace: str = "default",
        token_secret: str = "admin-jwt-secret"
    ):
        self.base_url = base_url.rstrip('/')
        self.session = requests.Session()

        if token:
            self.token = token
        else:
            # 從 Kubernetes Secret 取得 Token
            self.token = self._get_token_from_k8s(namespace, token_secret)

        self.session.headers.update({
            "X-SLURM-USER-TOKEN": self.token,
            "Content-Type": "application/json"
        })

    def _get_token_from_k8s(self, namespace: str, secret_name: str) -> str:
        """從 Kubernetes Secret 取得 JWT Token"""
        cmd = [
            "kubectl", "get", "secret", secret_name,
            "-n", namespace,
            "-o", "jsonpath={.data.SLURM_JWT}"
        ]
        result = subprocess.run(cmd, capture_output=True, text=True)
        return base64.b64decode(result.stdout).decode()

    def _request(
        self,
        method: str,
        endpoint: str,
        data: Optional[Dict] = None
    ) -> Dict[str, Any]:
        """發送 API 請求"""
        url = f"{self.base_url}{endpoint}"
        response = self.session.request(method, url, json=data)
        response.raise_for_status()
        return response.json()

    # ===== 節點操作 =====

    def list_nodes(self) -> Dict:
        """列出所有節點"""
        return self._request("GET", "/slurm/v0.0.41/nodes")

    def get_node(self, name: str) -> Dict:
        """取得特定節點"""
        return self._request("GET", f"/slurm/v0.0.41/node/{name}")

    def update_node(self, name: str, state: str, reason: str = "") -> Dict:
        """更新節點狀態"""
        data = {"state": [state]}
        if reason:
            data["reason"] = reason
        return self._request("POST", f"/slurm/v0.0.41/node/{name}", data)

    # ===== 作業操作 =====

    def list_jobs(self) -> Dict:
        """列出所有作業"""
        return self._request("GET", "/slurm/v0.0.41/jobs")

    def get_job(self, job_id: int) -> Dict:
        """取得特定作業"""
        return self._request("GET", f"/slurm/v0.0.41/job/{job_id}")

    def submit_job(
        self,
        name: str,
        script: str,
        nodes: int = 1,
        tasks: int = 1,
        cpus_per_task: int = 1,
        time_limit: str = "01:00:00",
        partition: Optional[str] = None
    ) -> Dict:
        """提交作業"""
        job = {
            "name": name,
            "nodes": str(nodes),
            "tasks": tasks,
            "cpus_per_task": cpus_per_task,
            "time_limit": time_limit,
            "current_working_directory": "/tmp",
            "environment": ["PATH=/usr/bin:/bin"],
            "script": script
        }
        if partition:
            job["partition"] = partition
        return self._request("POST", "/slurm/v0.0.41/job/submit", {"job": job})

    def cancel_job(self, job_id: int) -> Dict:
        """取消作業"""
        return self._request("DELETE", f"/slurm/v0.0.41/job/{job_id}")

    # ===== 分區操作 =====

    def list_partitions(self) -> Dict:
        """列出所有分區"""
        return self._request("GET", "/slurm/v0.0.41/partitions")

    def get_partition(self, name: str) -> Dict:
        """取得特定分區"""
        return self._request("GET", f"/slurm/v0.0.41/partition/{name}")

    # ===== 系統操作 =====

    def ping(self) -> Dict:
        """健康檢查"""
        return self._request("GET", "/slurm/v0.0.41/ping")

    def diag(self) -> Dict:
        """診斷資訊"""
        return self._request("GET", "/slurm/v0.0.41/diag")


# 使用範例
if __name__ == "__main__":
    # 建立客戶端
    client = SlurmClient(
        base_url="http://my-cluster-restapi:6820",
        namespace="default",
        token_secret="admin-jwt-secret"
    )

    # 健康檢查
    print("=== Ping ===")
    print(json.dumps(client.ping(), indent=2))

    # 列出節點
    print("\n=== Nodes ===")
    nodes = client.list_nodes()
    for node in nodes.get("nodes", []):
        print(f"  - {node.get('name')}: {node.get('state')}")

    # 列出分區
    print("\n=== Partitions ===")
    partitions = client.list_partitions()
    for part in partitions.get("partitions", []):
        print(f"  - {part.get('name')}: {part.get('state')}")

    # 提交作業
    print("\n=== Submit Job ===")
    result = client.submit_job(
        name="test-job",
        script="#!/bin/bash\necho Hello from Slurm!\nhostname\nsleep 30",
        nodes=1,
        tasks=1,
        time_limit="00:05:00"
    )
    print(json.dumps(result, indent=2))
