// Critical sections: proved where the lock is surely held, the same one, and fenced on both sides; and each
// way in which it is not.
#include "analyzed.h"

namespace kcheck::analyzer {
namespace {

const char* const kKernels = R"(
#include <cuda_runtime.h>
__global__ void noFenceAfterTaking(int* m, int* sum) { if (threadIdx.x) return; while (atomicCAS(m, 0, 1) != 0); *sum += blockIdx.x; __threadfence(); atomicExch(m, 0); }
__global__ void noFenceBeforeGivingBack(int* m, int* sum) { if (threadIdx.x) return; while (atomicCAS(m, 0, 1) != 0); __threadfence(); *sum += blockIdx.x; atomicExch(m, 0); }
__global__ void fenceOfTheBlock(int* m, int* sum) { if (threadIdx.x) return; while (atomicCAS(m, 0, 1) != 0); __threadfence_block(); *sum += blockIdx.x; __threadfence(); atomicExch(m, 0); }
__global__ void givenBackEarly(int* m, int* sum) { if (threadIdx.x) return; while (atomicCAS(m, 0, 1) != 0); __threadfence(); int x=*sum; __threadfence(); atomicExch(m, 0); *sum=x+1; }
__global__ void onSomePaths(int* m, int* sum) { if (threadIdx.x) return; if (blockIdx.x%4) { while (atomicCAS(m, 0, 1) != 0); __threadfence();} *sum+=blockIdx.x;  if (blockIdx.x%4) {__threadfence(); atomicExch(m, 0); } }
__global__ void twoLocks(int* m, int* sum) { if (threadIdx.x) return; int w=blockIdx.x&1; while (atomicCAS(&m[w], 0, 1) != 0); __threadfence(); *sum+=blockIdx.x; __threadfence(); atomicExch(&m[w], 0); }
__global__ void anotherGivenBack(int* m, int* sum) { if (threadIdx.x) return; int w=blockIdx.x; while (atomicCAS(&m[0], 0, 1) != 0); __threadfence(); *sum+=blockIdx.x; __threadfence(); atomicExch(&m[w], 0); }
__global__ void takenInTheBlock(int* m, int* sum) { if (threadIdx.x) return; while (atomicCAS_block(m, 0, 1) != 0); __threadfence(); *sum+=blockIdx.x; __threadfence(); atomicExch(m, 0); }
__global__ void givenBackInTheBlock(int* m, int* sum) { if (threadIdx.x) return; while (atomicCAS(m, 0, 1) != 0); __threadfence(); *sum+=blockIdx.x; __threadfence(); atomicExch_block(m, 0); }
__global__ void givenBackByAnother(int* m, int* sum) { if (threadIdx.x) { if (threadIdx.x==5) atomicExch(m,0); return; } while (atomicCAS(m, 0, 1) != 0); __threadfence(); *sum+=blockIdx.x; __threadfence(); atomicExch(m, 0); }
__global__ void entersWhereItIsTaken(int* m, int* sum) { if (threadIdx.x) return; while (atomicCAS(m, 0, 1) == 0); __threadfence(); *sum+=blockIdx.x; __threadfence(); atomicExch(m, 0); }
__global__ void lockOfEachBlock(int* sum) { __shared__ int m; if (threadIdx.x==0) m=0; __syncthreads(); if (threadIdx.x%32) return; while (atomicCAS(&m, 0, 1) != 0); __threadfence(); *sum+=blockIdx.x; __threadfence(); atomicExch(&m, 0); }
__global__ void givenBackTwice(int* m, int* sum) { if (threadIdx.x) return; while (atomicCAS(m, 0, 1) != 0); __threadfence(); *sum+=blockIdx.x; __threadfence(); atomicExch(m, 0); atomicExch(m, 0); }
__global__ void freedByAnother(int* m, int* sum) { if (threadIdx.x) return; if (blockIdx.x==3) atomicAnd(m,0); while (atomicCAS(m, 0, 1) != 0); __threadfence(); *sum+=blockIdx.x; __threadfence(); atomicExch(m, 0); }
__global__ void givesUpWaiting(int* m, int* sum) { if (threadIdx.x) return; int n=0; while (atomicCAS(m, 0, 1) != 0 && n++<1000); __threadfence(); *sum+=blockIdx.x; __threadfence(); atomicExch(m, 0); }
__global__ void bucketsShared(int* m, int* sum,const int*key) { int b=key[threadIdx.x]&15; bool d=false; while(!d) if (atomicCAS(&m[b], 0, 1) == 0) { __threadfence(); sum[b>>1]+=1; __threadfence(); atomicExch(&m[b], 0); d=true; } }
__global__ void tried(int* m, int* sum) { if (threadIdx.x) return; if (atomicCAS(m, 0, 1) == 0) { __threadfence(); *sum+=blockIdx.x; __threadfence(); atomicExch(m, 0); } }
struct Lock { int *m; __device__ void lock(){ while(atomicCAS(m,0,1)!=0); __threadfence(); } __device__ void unlock(){ __threadfence(); atomicExch(m,0);} };
__global__ void throughMethods(Lock l, float* c, const float *in) { __shared__ float s[64]; int t=threadIdx.x; s[t]=in[blockIdx.x*64+t]; __syncthreads(); for(int d=32;d;d>>=1){ if(t<d) s[t]+=s[t+d]; __syncthreads(); } if(t==0){ l.lock(); *c+=s[0]; l.unlock(); } }
__global__ void laneByLane(int* m, int* sum) { for(int i=0;i<32;i++) if((threadIdx.x&31)==i){ while(atomicCAS(m,0,1)); __threadfence(); *sum+=i; __threadfence(); atomicExch(m,0); } }
)";

TEST(Locks, OrderWhatTheyGuardAndNothingElse) {
  const Analyzed analyzed(kKernels, Analyzed::launch(8, 64));
  for (const char* kernel : {"tried", "throughMethods", "laneByLane"})
    EXPECT_EQ(analyzed.races(kernel), Answer::Proved) << kernel;
  for (const char* kernel :
       {"noFenceAfterTaking", "noFenceBeforeGivingBack", "fenceOfTheBlock", "givenBackEarly", "onSomePaths",
        "twoLocks", "anotherGivenBack", "takenInTheBlock", "givenBackInTheBlock", "givenBackByAnother",
        "entersWhereItIsTaken", "lockOfEachBlock", "givenBackTwice", "freedByAnother", "givesUpWaiting",
        "bucketsShared"})
    EXPECT_NE(analyzed.races(kernel), Answer::Proved) << kernel;
}

/// Each thread finds what the one before it has left: neither the same in all, nor in two reads of one.
TEST(Locks, WhatIsReadUnderThemIsNotOneValueForAll) {
  Analyzed analyzed(R"(
#include <cuda_runtime.h>
__device__ int number(int* lock, int* counter) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence();
  int mine = *counter;
  *counter = mine + 1;
  __threadfence();
  atomicExch(lock, 0);
  return mine;
}
__global__ void numberAndIndex(int* lock, int* counter, int* out) {
  out[number(lock, counter) + threadIdx.x] = threadIdx.x;
}
__global__ void numberAlone(int* lock, int* counter, int* out) { out[number(lock, counter)] = threadIdx.x; }
__global__ void firstOne(int* lock, int* counter, int* out) {
  if (number(lock, counter) == 0) out[0] = threadIdx.x;
}
__global__ void lastOneStays(int* lock, int* counter, int* out) { out[0] = number(lock, counter); }
)",
                    Analyzed::launch(1, 64));
  EXPECT_NE(analyzed.races("numberAndIndex"), Answer::Proved);
  EXPECT_TRUE(analyzed.findings("numberAlone").empty());
  EXPECT_TRUE(analyzed.findings("firstOne").empty());
  EXPECT_NE(analyzed.races("lastOneStays"), Answer::Proved);
  for (const Finding& finding : analyzed.analysis.findings)
    EXPECT_FALSE(finding.sameValue) << finding.message;
}

} // namespace
} // namespace kcheck::analyzer
