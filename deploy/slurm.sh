#!/usr/bin/env bash
#SBATCH --job-name=sottovoce
#SBATCH --ntasks=9
#SBATCH --cpus-per-task=1
#SBATCH --mem-per-cpu=2500M
#SBATCH --time=12:00:00
#SBATCH --requeue
# One task is the scheduler and the client, the others are workers:
#   sbatch deploy/slurm.sh audit study.yaml --out audit/
# Run again after a time limit: finished steps are kept.
set -euo pipefail
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1 POLARS_MAX_THREADS=1
export MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=268435456 MALLOC_TRIM_THRESHOLD_=536870912
export DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL=1s DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL=5s
export DASK_DISTRIBUTED__WORKER__MEMORY__MONITOR_INTERVAL=500ms
export DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False
export DASK_DISTRIBUTED__WORKER__MEMORY__TARGET=False DASK_DISTRIBUTED__WORKER__MEMORY__SPILL=False
export DASK_DISTRIBUTED__WORKER__MEMORY__PAUSE=False
port=$((20000 + SLURM_JOB_ID % 20000))
address="tcp://$(hostname):$port"

dask scheduler --port "$port" --dashboard-address 127.0.0.1:0 &
scheduler=$!
trap 'kill "$scheduler"' EXIT
srun --ntasks="$((SLURM_NTASKS - 1))" dask worker "$address" \
  --nthreads 1 --nworkers 1 --memory-limit 2GB --local-directory "${TMPDIR:-/tmp}" --no-dashboard &

sottovoce "$@" --engine "$address" --scratch "$PWD"
