# find_package(vouch REQUIRED PATHS …/libvouch/out/cmake), then target_link_libraries(firmware PRIVATE vouch::vouch).
#
# The library is chosen by VOUCH_TARGET, or by CMAKE_SYSTEM_PROCESSOR where that says enough (cortex-m0, cortex-m3, …).
if(NOT DEFINED VOUCH_TARGET)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(cortex-m0|cortex-m0plus|cortex-m1|armv6-?m)$")
    set(VOUCH_TARGET thumbv6m-none-eabi)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(cortex-m3|armv7-?m)$")
    set(VOUCH_TARGET thumbv7m-none-eabi)
  else()
    message(FATAL_ERROR "vouch: set VOUCH_TARGET to one of the folders in ${CMAKE_CURRENT_LIST_DIR}/../lib "
                        "(with a floating-point unit the ABI decides: thumbv7em-none-eabi or thumbv7em-none-eabihf)")
  endif()
endif()
get_filename_component(_vouch_root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(_vouch_library "${_vouch_root}/lib/${VOUCH_TARGET}/libvouch.a")
if(NOT EXISTS "${_vouch_library}")
  message(FATAL_ERROR "vouch: ${_vouch_library} is missing; `cargo xtask libvouch` builds it")
endif()
if(NOT TARGET vouch::vouch)
  add_library(vouch::vouch STATIC IMPORTED)
  set_target_properties(vouch::vouch PROPERTIES
    IMPORTED_LOCATION "${_vouch_library}"
    INTERFACE_INCLUDE_DIRECTORIES "${_vouch_root}/include")
endif()
