if(TARGET dlasim)
    add_test(NAME Cli.Records COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/records_test.py $<TARGET_FILE:dlasim> Records)
    set_tests_properties(Cli.Records PROPERTIES LABELS quick TIMEOUT 900)
endif()
