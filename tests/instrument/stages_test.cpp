// Single stages on small pieces of device IR: accesses keep their hooks whatever the optimiser makes of them,
// and only what may wait becomes a coroutine or needs a fibre.
#include "instrument/pass/lowering.h"
#include "instrument/pass/stages.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>

namespace kcheck::instrument {
namespace {

constexpr const char* kHead = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"kernel", i32 1}
)";

class Stages : public testing::Test {
protected:
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  Facts facts;
  Options options;
  std::unique_ptr<DeviceCode> code;

  void runUntilEntries(const std::string& body) {
    llvm::SMDiagnostic error;
    module = llvm::parseAssemblyString(kHead + body, error, context);
    ASSERT_TRUE(module) << error.getMessage().str() << " in line " << error.getLineNo();
    code = std::make_unique<DeviceCode>(*module, facts, options);
    for (auto* stage : {prepare, replaceGridBarrier, lowerDevice, insertHooks, inlineSmall,
                        yieldInPollingLoops, buildEntries}) {
      stage(*code);
      verify(*module, "test");
    }
  }

  int calls(Call which) {
    int count = 0;
    for (llvm::Function& function : *module)
      for (llvm::Instruction& instruction : llvm::instructions(function))
        count += isCallTo(instruction, which);
    return count;
  }
  int waits(abi::WaitKind kind) {
    int count = 0;
    for (llvm::Function& function : *module)
      for (llvm::Instruction& instruction : llvm::instructions(function))
        count += isWaitMarker(instruction) && waitKindOf(llvm::cast<llvm::CallInst>(instruction)) == kind;
    return count;
  }
};

TEST_F(Stages, aReadWhoseValueNobodyUsesKeepsItsHook) {
  runUntilEntries(R"(
define void @k(ptr %p) {
  %unused = alloca i32
  %v = load i32, ptr %p
  store i32 %v, ptr %unused
  ret void
})");
  EXPECT_EQ(calls(Call::kcRead), 1);
  EXPECT_EQ(calls(Call::kcWrite), 0);
}

TEST_F(Stages, aVariableOfTheCallerIsLocalOnceInlined) {
  runUntilEntries(R"(
define void @set(ptr %x) {
  store i32 1, ptr %x
  ret void
}
define void @k(ptr %p) {
  %x = alloca i32
  call void @set(ptr %x)
  call void @set(ptr %p)
  ret void
})");
  EXPECT_EQ(calls(Call::kcWrite), 1);
}

TEST_F(Stages, aLocalArrayIsCheckedAtComputedPlacesOnly) {
  runUntilEntries(R"(
define void @k(ptr %p, i64 %i) {
  %a = alloca [4 x i32]
  %first = getelementptr [4 x i32], ptr %a, i64 0, i64 3
  store i32 1, ptr %first
  %past = getelementptr [4 x i32], ptr %a, i64 0, i64 4
  store i32 1, ptr %past
  %any = getelementptr [4 x i32], ptr %a, i64 0, i64 %i
  %v = load i32, ptr %any
  store i32 %v, ptr %p
  ret void
})");
  EXPECT_EQ(calls(Call::kcLocal), 2);
  EXPECT_EQ(calls(Call::kcWrite), 1);
}

TEST_F(Stages, aKernelWithoutWaitsIsAPlainFunction) {
  runUntilEntries(R"(
define void @k(ptr %p) {
  store i32 1, ptr %p
  ret void
})");
  EXPECT_EQ(code->kernels.at(0).suspension, Suspension::Never);
}

TEST_F(Stages, aBarrierInAHelperMakesTheKernelACoroutine) {
  runUntilEntries(R"(
define void @helper() {
  call void @llvm.nvvm.barrier0()
  ret void
}
define void @k(ptr %p) {
  call void @helper()
  ret void
})");
  EXPECT_EQ(code->kernels.at(0).suspension, Suspension::Coroutine);
}

TEST_F(Stages, aBarrierBelowRecursionNeedsAFibre) {
  runUntilEntries(R"(
define void @down(i32 %n) {
  call void @llvm.nvvm.barrier0()
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %m = sub i32 %n, 1
  call void @down(i32 %m)
  br label %end
end:
  ret void
}
define void @k(i32 %n) {
  call void @down(i32 %n)
  ret void
})");
  EXPECT_EQ(code->kernels.at(0).suspension, Suspension::Fibre);
}

TEST_F(Stages, recursionWithoutBarrierStaysACall) {
  runUntilEntries(R"(
define i32 @down(i32 %n) {
  %done = icmp eq i32 %n, 0
  br i1 %done, label %end, label %more
more:
  %m = sub i32 %n, 1
  %v = call i32 @down(i32 %m)
  ret i32 %v
end:
  ret i32 1
}
define void @k(ptr %p) {
  %v = call i32 @down(i32 3)
  store i32 %v, ptr %p
  call void @llvm.nvvm.barrier0()
  ret void
})");
  EXPECT_EQ(code->kernels.at(0).suspension, Suspension::Coroutine);
}

constexpr const char* kSpin = R"(
define void @k(ptr %p) {
  br label %spin
spin:
  %seen = load volatile i32, ptr %p
  %again = icmp eq i32 %seen, 0
  br i1 %again, label %spin, label %end
end:
  ret void
})";

TEST_F(Stages, aLoopOnAVolatileFlagYields) {
  runUntilEntries(kSpin);
  EXPECT_EQ(waits(abi::WaitKind::Yield), 1);
}

TEST_F(Stages, aCountedLoopOverMemoryDoesNotYield) {
  runUntilEntries(R"(
define void @k(ptr %p, ptr %n) {
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %loop ]
  %next = add i32 %i, 1
  %limit = load i32, ptr %n
  %again = icmp slt i32 %next, %limit
  br i1 %again, label %loop, label %end
end:
  ret void
})");
  EXPECT_EQ(waits(abi::WaitKind::Yield), 0);
}

/// A loop of `%i` up to `%n` around an atomicCAS; `body` says what becomes of what it saw.
std::string loopAroundExchange(const std::string& body) {
  return R"(
define void @k(ptr %p, i32 %n) {
  br label %loop
)" + body +
         R"(
end:
  ret void
})";
}

constexpr const char* kExchange = R"(
  %pair = cmpxchg ptr %p, i32 0, i32 1 seq_cst seq_cst
  %free = extractvalue { i32, i1 } %pair, 1
)";

TEST_F(Stages, aCountedLoopAroundAnExchangeDoesNotYield) {
  runUntilEntries(loopAroundExchange(std::string(R"(
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %latch ])") +
                                     kExchange +
                                     R"(
  br i1 %free, label %take, label %latch
take:
  store i32 %i, ptr %p
  br label %latch
latch:
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end)"));
  EXPECT_EQ(waits(abi::WaitKind::Yield), 0);
}

TEST_F(Stages, aSpinOnAnExchangeYields) {
  runUntilEntries(
      loopAroundExchange(std::string("loop:") + kExchange + "br i1 %free, label %end, label %loop"));
  EXPECT_EQ(waits(abi::WaitKind::Yield), 1);
}

TEST_F(Stages, aSpinOfBoundedRetriesYields) {
  runUntilEntries(loopAroundExchange(std::string(R"(
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %latch ])") +
                                     kExchange +
                                     R"(
  br i1 %free, label %end, label %latch
latch:
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end)"));
  EXPECT_EQ(waits(abi::WaitKind::Yield), 1);
}

TEST_F(Stages, aSpinThatEndsByItsCounterYields) {
  runUntilEntries(loopAroundExchange(std::string(R"(
loop:
  %i = phi i32 [ 0, %0 ], [ %next, %latch ])") +
                                     kExchange +
                                     R"(
  br i1 %free, label %take, label %retry
take:
  br label %latch
retry:
  %more = add i32 %i, 1
  br label %latch
latch:
  %next = phi i32 [ %n, %take ], [ %more, %retry ]
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end)"));
  EXPECT_EQ(waits(abi::WaitKind::Yield), 1);
}

TEST_F(Stages, aLoopThatGoesOnByTwoWaysYields) {
  runUntilEntries(loopAroundExchange(std::string(R"(
loop:
  %i = phi i32 [ 0, %0 ], [ %i, %work ], [ %next, %take ]
  %again = icmp slt i32 %i, %n
  br i1 %again, label %work, label %end
work:)") + kExchange + R"(
  br i1 %free, label %take, label %loop
take:
  %next = add i32 %i, 1
  br label %loop)"));
  EXPECT_EQ(waits(abi::WaitKind::Yield), 2);
}

TEST_F(Stages, aSpinOnAFlagThatTheExchangeSetsYields) {
  runUntilEntries(loopAroundExchange(std::string(R"(
loop:
  %done = phi i1 [ false, %0 ], [ %found, %loop ]
  %i = phi i32 [ 0, %0 ], [ %next, %loop ])") +
                                     kExchange +
                                     R"(
  %found = or i1 %done, %free
  %next = add i32 %i, 1
  %missing = xor i1 %found, true
  %left = icmp slt i32 %next, %n
  %again = and i1 %missing, %left
  br i1 %again, label %loop, label %end)"));
  EXPECT_EQ(waits(abi::WaitKind::Yield), 1);
}

TEST_F(Stages, aCountThatASpinInsideDecidesYields) {
  // The inner loop waits; what it counts decides how long the outer one goes on.
  runUntilEntries(loopAroundExchange(std::string(R"(
loop:
  %i = phi i32 [ 0, %0 ], [ %sum, %latch ]
  br label %spin
spin:
  %tries = phi i32 [ %i, %loop ], [ %more, %spin ]
  %more = add i32 %tries, 1)") + kExchange +
                                     R"(
  br i1 %free, label %latch, label %spin
latch:
  %sum = phi i32 [ %more, %spin ]
  %again = icmp slt i32 %sum, %n
  br i1 %again, label %loop, label %end)"));
  EXPECT_EQ(waits(abi::WaitKind::Yield), 2);
}

TEST_F(Stages, atomicsCarryCudasOrderAndScope) {
  runUntilEntries(R"(
declare i32 @llvm.nvvm.atomic.add.gen.i.cta.i32.p0(ptr, i32)
define void @k(ptr %p) {
  %a = atomicrmw add ptr %p, i32 1 seq_cst
  %b = call i32 @llvm.nvvm.atomic.add.gen.i.cta.i32.p0(ptr %p, i32 1)
  ret void
})");
  std::vector<std::uint64_t> orders;
  for (llvm::Function& function : *module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (isCallTo(instruction, Call::kcAtomic))
        orders.push_back(
            llvm::cast<llvm::ConstantInt>(llvm::cast<llvm::CallInst>(instruction).getArgOperand(4))
                ->getZExtValue());
  EXPECT_EQ(orders, (std::vector<std::uint64_t>{0x320, 0x310})); // relaxed read-modify-write: device, block
}

TEST_F(Stages, unknownAssemblyIsReportedWhereItIsReached) {
  runUntilEntries(R"(
define void @k(ptr %p) {
  call void asm sideeffect "frobnicate.u32 $0;", "r"(i32 1)
  ret void
})");
  EXPECT_EQ(calls(Call::kcUnsupported), 1);
  ASSERT_EQ(code->unsupported.size(), 1u);
  EXPECT_NE(code->unsupported[0].find("frobnicate"), std::string::npos);
}

TEST_F(Stages, sharedVariablesAreApartAndOverlapBetweenKernelsOnly) {
  runUntilEntries(R"(
@a = internal addrspace(3) global [10 x i32] undef, align 4
@b = internal addrspace(3) global [5 x double] undef, align 8
define void @k(ptr %p) {
  store i32 1, ptr addrspacecast (ptr addrspace(3) @a to ptr)
  store i32 1, ptr addrspacecast (ptr addrspace(3) @b to ptr)
  ret void
})");
  placeSharedMemory(*code);
  const KernelCode& kernel = code->kernels.at(0);
  ASSERT_EQ(kernel.shared.size(), 2u);
  EXPECT_GE(kernel.shared[1].offset, kernel.shared[0].offset + kernel.shared[0].bytes + 16);
  EXPECT_GE(kernel.sharedBytes, kernel.shared[1].offset + kernel.shared[1].bytes + 16);
  EXPECT_EQ(kernel.declaredSharedBytes, 80u);
}

TEST_F(Stages, whatAKernelWritesIsFoundThroughCallsAndStructures) {
  runUntilEntries(R"(
%view = type { ptr, i32, ptr }
define void @put(ptr %to, i32 %i) noinline {
  %at = getelementptr i32, ptr %to, i32 %i
  store i32 1, ptr %at
  ret void
}
define void @k(ptr %in, i64 %n, ptr byval(%view) %view, ptr %sum, i1 %which) {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr i32, ptr %in, i32 %i
  %value = load i32, ptr %from
  %field = getelementptr %view, ptr %view, i32 0, i32 2
  %out = load ptr, ptr %field
  call void @put(ptr %out, i32 %i)
  %old = atomicrmw add ptr %sum, i32 %value seq_cst
  ret void
}
)");
  findWrittenParameters(*code);
  EXPECT_TRUE(code->kernels.at(0).traits & abi::TraitWritesKnown);
  EXPECT_EQ(code->kernels.at(0).written, (std::vector<std::uint32_t>{32, 40})) << "view.out, sum";
}

TEST_F(Stages, aWriteThroughAPointerFromMemoryMayGoAnywhere) {
  runUntilEntries(R"(
define void @k(ptr %table) {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr ptr, ptr %table, i32 %i
  %row = load ptr, ptr %at
  store i32 1, ptr %row
  ret void
}
)");
  findWrittenParameters(*code);
  EXPECT_FALSE(code->kernels.at(0).traits & abi::TraitWritesKnown);
}

TEST_F(Stages, aWriteToOneOfTwoWritesBoth) {
  runUntilEntries(R"(
define void @k(ptr %a, ptr %b, ptr %c, i1 %first) {
  %to = select i1 %first, ptr %a, ptr %c
  %value = load i32, ptr %b
  store i32 %value, ptr %to
  ret void
}
)");
  findWrittenParameters(*code);
  EXPECT_EQ(code->kernels.at(0).written, (std::vector<std::uint32_t>{0, 16}));
}

} // namespace
} // namespace kcheck::instrument
