if(TARGET dlasim)
    foreach(case Known Sums Compaction)
        add_test(NAME Causes.${case} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/causes_test.py $<TARGET_FILE:dlasim> ${case})
        set_tests_properties(Causes.${case} PROPERTIES LABELS quick TIMEOUT 900)
    endforeach()
    set_tests_properties(Causes.Known PROPERTIES LABELS golden)  # much time under sanitizers
    add_test(NAME Causes.Everything COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/causes_test.py $<TARGET_FILE:dlasim> Everything)
    set_tests_properties(Causes.Everything PROPERTIES LABELS long TIMEOUT 14400 PROCESSORS 2)
endif()
