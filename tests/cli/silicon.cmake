if(TARGET dlasim)
    foreach(case Machines Runs)
        add_test(NAME Silicon.${case} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/silicon_test.py $<TARGET_FILE:dlasim> ${case})
        set_tests_properties(Silicon.${case} PROPERTIES LABELS quick TIMEOUT 900)
    endforeach()
    # Every layer, network and compiler file, on every preset that takes it, with values and without.
    add_test(NAME Silicon.Everything COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/silicon_test.py $<TARGET_FILE:dlasim> Everything)
    set_tests_properties(Silicon.Everything PROPERTIES LABELS long TIMEOUT 20000)
    # Simulates ResNet-50 on seven machines and fits: the goals of docs/SILICON.md.
    add_test(NAME Silicon.Fit COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/scripts/fit_silicon.py --dlasim $<TARGET_FILE:dlasim>)
    set_tests_properties(Silicon.Fit PROPERTIES LABELS long TIMEOUT 3600)
endif()
if(TARGET dlasim)
    add_test(NAME Sweep.Machines COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/machines_test.py $<TARGET_FILE:dlasim> Machines)
    set_tests_properties(Sweep.Machines PROPERTIES LABELS golden TIMEOUT 900)  # minutes under sanitizers
endif()
