if(TARGET dlasim)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    add_test(NAME DramGolden.LayersBehindEveryMemory
             COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/dram_layers.py $<TARGET_FILE:dlasim> ${PROJECT_SOURCE_DIR}/models)
    set_tests_properties(DramGolden.LayersBehindEveryMemory PROPERTIES LABELS golden TIMEOUT 600)
endif()
