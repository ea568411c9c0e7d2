{{/* The value of --controllers. */}}
{{- define "vmoperator.controllers" -}}
{{- $names := list -}}
{{- with .Values.controllers -}}
{{- if .virtualMachine.enabled }}{{ $names = list "providerconfig" "virtualmachine" }}{{ end -}}
{{- if and .virtualMachine.enabled .orphan.enabled }}{{ $names = append $names "orphan" }}{{ end -}}
{{- if .appAutoscaler.enabled }}{{ $names = append $names "appautoscaler" }}{{ end -}}
{{- if .myApp.enabled }}{{ $names = append $names "myapp" }}{{ end -}}
{{- if .labeller.enabled }}{{ $names = append $names "labeller" }}{{ end -}}
{{- end -}}
{{- if not $names }}
{{- fail "controllers: at least one must be enabled" }}
{{- end -}}
{{- join "," $names -}}
{{- end }}

{{/* The operator's flags, one a line. */}}
{{- define "vmoperator.args" -}}
- --watch-namespaces={{ include "vmoperator.watched" . }}
- --controllers={{ include "vmoperator.controllers" . }}
{{- with .Values.controllers.labeller }}
{{- if .enabled }}
- --labeller-key={{ .key }}
- --labeller-value={{ .value }}
{{- with .selector }}
- --labeller-selector={{ . }}
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.leaderElection.enabled }}
- --leader-elect
- --leader-elect-lease-duration={{ .Values.leaderElection.leaseDuration }}
- --leader-elect-renew-deadline={{ .Values.leaderElection.renewDeadline }}
- --leader-elect-retry-period={{ .Values.leaderElection.retryPeriod }}
{{- end }}
- --health-probe-bind-address=:8081
- --metrics-bind-address={{ ternary (printf ":%d" (int .Values.metrics.port)) "0" .Values.metrics.enabled }}
{{- if .Values.metrics.secure }}
- --metrics-secure
{{- end }}
- --graceful-shutdown-timeout={{ .Values.gracefulShutdownSeconds }}s
{{- with .Values.maxConcurrentReconciles }}
{{- $workers := list }}
{{- range $controller, $number := . }}
{{- $workers = append $workers (printf "%s=%d" $controller (int64 $number)) }}
{{- end }}
- --max-concurrent-reconciles={{ join "," $workers }}
{{- end }}
- --provider-qps={{ int64 .Values.provider.qps }}
- --provider-burst={{ int64 .Values.provider.burst }}
{{- with .Values.provider.allowEndpointCIDRs }}
- --allow-endpoint-cidrs={{ join "," . }}
{{- end }}
{{- with .Values.provider.vmAddressCIDRs }}
- --vm-address-cidrs={{ join "," . }}
{{- end }}
{{- with include "vmoperator.defaultEndpoint" . }}
- --default-provider-endpoint={{ . }}
{{- end }}
{{- if and .Values.controllers.virtualMachine.enabled .Values.rbac.survivesNamespaceDeletion (eq .Values.rbac.scope "namespace") }}
- --keep-role-binding={{ include "vmoperator.keptName" . }}
{{- end }}
- --zap-log-level={{ .Values.log.level }}
- --zap-encoder={{ .Values.log.format }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end }}
