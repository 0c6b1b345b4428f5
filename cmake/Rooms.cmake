# kcheck_room(NAME DIRECTORY dir SOURCES ... [PUBLIC ...] [PRIVATE ...])
#
# A room is a static library whose headers are reached as "dir/header.h" only by rooms that link it: each room's
# folder is linked into an include root of its own below the build folder, and only that root is exported.
# So the table of docs/architecture.md (who may include whom) is enforced by the compiler.
add_library(kcheck_options INTERFACE)
target_compile_options(kcheck_options INTERFACE -Wall -Wextra $<$<BOOL:${KCHECK_WERROR}>:-Werror>)
if(KCHECK_ASAN)
  target_compile_options(kcheck_options INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer)
  target_link_options(kcheck_options INTERFACE -fsanitize=address,undefined)
endif()

function(kcheck_include_root OUT DIRECTORY)
  string(REPLACE "/" "_" flat ${DIRECTORY})
  set(root ${PROJECT_BINARY_DIR}/rooms/${flat})
  get_filename_component(parent ${root}/${DIRECTORY} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${DIRECTORY} ${root}/${DIRECTORY} SYMBOLIC)
  set(${OUT} ${root} PARENT_SCOPE)
endfunction()

# kcheck_precompile(NAME header...): what most sources of a target include and is slow to read, read once. Each source
# still includes what it needs: .ci/lint reads all of them without.
option(KCHECK_PRECOMPILE "precompile the headers of LLVM, Clang and GoogleTest" ON)
function(kcheck_precompile NAME)
  if(KCHECK_PRECOMPILE)
    target_precompile_headers(${NAME} PRIVATE ${ARGN})
  endif()
endfunction()
set(kcheck_llvm_headers <llvm/Analysis/LoopInfo.h> <llvm/IR/DebugInfoMetadata.h> <llvm/IR/Dominators.h> <llvm/IR/IRBuilder.h>
  <llvm/IR/InstIterator.h> <llvm/IR/IntrinsicInst.h> <llvm/IR/Module.h>)

function(kcheck_room NAME)
  cmake_parse_arguments(ROOM "" "DIRECTORY" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${NAME} STATIC ${ROOM_SOURCES})
  kcheck_include_root(root ${ROOM_DIRECTORY})
  target_include_directories(${NAME} PUBLIC ${root})
  target_link_libraries(${NAME} PUBLIC ${ROOM_PUBLIC} PRIVATE kcheck_options ${ROOM_PRIVATE})
endfunction()
