# The Debian packages that kcheck is built on, as imported targets. Each outside library has one door:
# clang in frontend/, z3 in analyzer/smt/ (tests/house greps for leaks).
set(LLVM_DIR /usr/lib/llvm-19/lib/cmake/llvm CACHE PATH "folder of LLVMConfig.cmake")
set(Clang_DIR /usr/lib/llvm-19/lib/cmake/clang CACHE PATH "folder of ClangConfig.cmake")
find_package(LLVM 19.1 REQUIRED CONFIG)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

add_library(kcheck_llvm INTERFACE)
target_include_directories(kcheck_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(kcheck_llvm INTERFACE ${LLVM_DEFINITIONS})
target_link_libraries(kcheck_llvm INTERFACE ${LLVM_LIBRARY_DIRS}/libLLVM.so)

add_library(kcheck_clang INTERFACE)
target_link_libraries(kcheck_clang INTERFACE ${LLVM_LIBRARY_DIRS}/libclang-cpp.so.19.1 kcheck_llvm)

find_library(KCHECK_Z3_LIBRARY z3 REQUIRED)
add_library(kcheck_z3 INTERFACE)
target_link_libraries(kcheck_z3 INTERFACE ${KCHECK_Z3_LIBRARY})

set(KCHECK_CLANG ${LLVM_TOOLS_BINARY_DIR}/clang++ CACHE FILEPATH "the Clang 19 that compiles the runtime and links checked programs")
